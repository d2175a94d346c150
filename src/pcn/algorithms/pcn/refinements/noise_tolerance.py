"""Noise tolerance: returns that the same actions may lead to count as equal.

Where outcomes are stochastic and returns are continuous, no two episodes return the same. Without a
tolerance every one of them is a trade-off of its own, and noise fills archive and dataset.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.rows import Rows
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.trainer import evaluation_due
from pcn.checks import at_least, at_most
from pcn.envs.spec import EnvironmentSpec
from pcn.rollout import ScriptedAgent


class LastMeasured(AbstractState):
    """When the noise was measured for the last time."""

    def __init__(self) -> None:
        self.steps = 0

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The step of the training."""
        return {"steps": np.asarray(self.steps)}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.steps = int(arrays["steps"])


@dataclass(frozen=True, kw_only=True)
class NoiseTolerance(AbstractRefinement):
    """Let returns count as equal if playing the same actions again gives as different ones.

    Some episodes of the archive are played again a few times each, now and then. The tolerance of
    an objective is the median difference between two returns of the same actions: where outcomes
    mostly repeat themselves, it is zero and changes nothing. Only in stochastic environments.
    """

    measurements: int = 5
    """How often the noise is measured, if the whole budget explored; those dates that the end of
    the training falls on are left out."""
    episodes: int = 8
    """Episodes that are played again each time."""
    repeats: int = 4
    """How often each of them is played."""
    steps_share: float = 0.01
    """Most of the budget that one measurement may take; the shortest episodes are played first.

    Where not a single one fits, three times as much may be spent on playing some twice."""
    most: float = 0.1
    """Largest tolerance, as a share of the range of the archive's returns."""

    def __post_init__(self) -> None:
        at_least(self, 1, "measurements", "episodes")
        at_least(self, 2, "repeats")
        at_least(self, 0, "most", "steps_share")
        at_most(self, 1, "most", "steps_share")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions can have different outcomes."""
        return not spec.deterministic

    def fresh_state(self, training: Training) -> LastMeasured:
        """Nothing has been measured yet."""
        del training
        return LastMeasured()

    def after_exploring(self, training: Training) -> None:
        """Measure the noise if that is due."""
        config, dataset = training.config, training.dataset
        state = self.state_in(training, LastMeasured)
        due = evaluation_due(
            state.steps,
            training.steps,
            total_steps=config.total_steps,
            evaluations=self.measurements,
        )
        state.steps = training.steps
        if due and config.return_tolerance is None:
            measured = self.measure(training)
            if measured is None:
                return  # what was known before is better than nothing
            least = config.tolerances(dataset.rows.returns)
            most = np.maximum(self.most * np.ptp(dataset.archive().returns, axis=0), least)
            dataset.set_tolerances(np.clip(measured, least, most))

    def measure(self, training: Training) -> Float[np.ndarray, " objective"] | None:
        """The median difference between two returns of the same actions; None if there are none."""
        rows, repeats = self._played(training)
        if len(rows.slots) == 0:
            return None
        head = training.learner.policy.action_head
        scripts = training.dataset.actions(rows) * repeats
        # One length and few sizes: every other one would be compiled anew.
        count = len(scripts)
        size = max(count, training.schedule.num_episodes)
        padded = np.zeros((size, training.spec.step_limit, scripts[0].shape[1]), head.dtype)
        for row, script in zip(padded, scripts, strict=False):
            row[: len(script)] = script
        played = training.runner.run(
            ScriptedAgent(padded, np.zeros(size, np.int32), head),
            training.next_key(),
            size,
            count=count,
            most_steps=np.resize(np.tile(rows.lengths, repeats), size),
        )
        shape = (repeats, len(rows.slots))
        returns = played.returns(discount=training.config.discount)[:count].reshape(*shape, -1)
        ended = np.asarray(played.ended)[:count].reshape(shape)
        one, other = np.triu_indices(repeats, k=1)
        both = ended[one] & ended[other]
        if not both.any():
            return None
        difference = np.abs(returns[one] - returns[other])[both]
        return np.asarray(np.median(difference, axis=0))

    def _played(self, training: Training) -> tuple[Rows, int]:
        """Random episodes of the archive that the steps allow, and how often to play each."""
        rows = training.dataset.archive().rows
        chosen = training.rng.permutation(len(rows.slots))[: self.episodes]
        chosen = chosen[np.argsort(rows.lengths[chosen], kind="stable")]
        steps, repeats = np.cumsum(rows.lengths[chosen]), self.repeats
        allowed = self.steps_share * training.config.total_steps
        if steps[0] * repeats > allowed:
            repeats, allowed = 2, 3 * allowed
        return rows.taking(chosen[steps * repeats <= allowed]), repeats
