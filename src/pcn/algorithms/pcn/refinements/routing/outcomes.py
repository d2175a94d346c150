"""What follows observations and actions, and what an outcome changes."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.algorithms.pcn.refinements.routing.step_keys import tidy

CHANGE_BITS = 13
"""Binary digits of a change that is not a whole number, so that rounding makes no new changes."""
ROUNDING = 1e-5
"""Share of the largest reward below which two rewards differ by rounding only."""


@dataclass(frozen=True)
class Outcomes:
    """What follows some observations and actions."""

    observations: Float[np.ndarray, "step part"]
    rewards: Float[np.ndarray, "step objective"]
    terminated: Bool[np.ndarray, " step"]

    @property
    def several(self) -> Bool[np.ndarray, " step"]:
        """Where a step has had several outcomes: its effect is not a number."""
        return np.isnan(self.rewards).any(axis=1)

    def taking(self, index: Int[np.ndarray, " kept"]) -> "Outcomes":
        """The outcomes at `index`."""
        return Outcomes(self.observations[index], self.rewards[index], self.terminated[index])


@dataclass(frozen=True)
class Predicted(Outcomes):
    """What should follow some observations and actions."""

    known: Bool[np.ndarray, " step"]
    """Where there is a prediction."""
    leaves: Int[np.ndarray, " step"]
    """The leaf of the trees that each prediction comes from."""


Effect = Float[np.ndarray, "step change"]
"""Per step: the change of each part of the observation, the reward, and 1 for an end, else 0."""


def effects_of(observations: Float[np.ndarray, "step part"], outcomes: Outcomes) -> Effect:
    """What the outcomes change; `observations` are tidy."""
    changes = tidy(outcomes.observations) - observations
    changes = np.where(changes == np.round(changes), changes, tidy(changes, CHANGE_BITS))
    return np.concatenate([changes, tidy(outcomes.rewards), outcomes.terminated[:, None]], axis=1)


def unlike(
    known: Effect, observations: Float[np.ndarray, "step part"], outcomes: Outcomes
) -> Bool[np.ndarray, " step"]:
    """Where outcomes change something else than is known of their steps, ends aside."""
    changes, rewards = np.split(known[:, :-1], [observations.shape[1]], axis=1)
    off = np.abs(outcomes.observations - observations - changes)
    differs: Bool[np.ndarray, " step"] = np.any(off > 2.0**-CHANGE_BITS * np.abs(changes), axis=1)
    most = np.abs(outcomes.rewards).max(axis=0, initial=0.0)
    differs |= np.any(np.abs(outcomes.rewards - rewards) > ROUNDING * most, axis=1)
    return differs
