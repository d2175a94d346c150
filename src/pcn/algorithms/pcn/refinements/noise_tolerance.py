"""Noise tolerance: returns that repeated executions do not tell apart count as equal.

Where outcomes are stochastic and returns are continuous, no two episodes return the same. Without a
tolerance every one of them is a trade-off of its own, and noise fills archive and dataset.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.trainer import evaluation_due
from pcn.checks import at_least, at_most
from pcn.envs.spec import EnvironmentSpec


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
    """Let returns count as equal if repeated executions of one command differ as much.

    Some commands are executed a few times each, now and then. The tolerance of an objective is the
    median difference between two executions of the same command: where outcomes repeat themselves
    exactly, it is zero and changes nothing. Only in stochastic environments.
    """

    measurements: int = 5
    """How often the noise is measured in a training."""
    executed: int = 8
    """Commands that are executed each time."""
    repeats: int = 4
    """Executions of each of them."""
    patience: float = 4.0
    """After how many times its desired horizon an execution is broken off; it does not count."""
    most: float = 0.1
    """Largest tolerance, as a share of the spread of stored returns."""

    def __post_init__(self) -> None:
        at_least(self, 1, "measurements", "executed", "patience")
        at_least(self, 2, "repeats")
        at_least(self, 0, "most")
        at_most(self, 1, "most")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions can have different outcomes."""
        return not spec.deterministic

    def fresh_state(self, training: Training) -> LastMeasured:
        """Nothing has been measured yet."""
        del training
        return LastMeasured()

    def after_exploring(self, training: Training) -> None:
        """Measure the noise if that is due."""
        state = training.states[type(self).__name__]
        assert isinstance(state, LastMeasured)
        due = evaluation_due(
            state.steps,
            training.steps,
            total_steps=training.config.total_steps,
            evaluations=self.measurements,
        )
        state.steps = training.steps
        if due and training.config.return_tolerance is None:
            noise = self.measure(training)
            dataset = training.dataset
            least = training.config.tolerances(dataset.rows.returns)
            dataset.set_tolerances(
                np.clip(noise, least, np.maximum(self.most * dataset.extents, least))
            )

    def measure(self, training: Training) -> Float[np.ndarray, " objective"]:
        """The median difference between two executions of one command; zero if none ended."""
        archive = training.dataset.archive()
        chosen = training.rng.permutation(len(archive))[: self.executed]
        index = np.tile(chosen, self.repeats)
        horizons = archive.horizons[index].astype(np.float64)
        episodes = training.actor.run(
            training.learner.policy,
            archive.returns[index],
            horizons,
            upper_bound=training.upper_bound(),
            key=training.next_key(),
            greedy=True,
            most_steps=(self.patience * horizons).astype(np.int64) + 1,
        )
        returns = episodes.returns(discount=training.config.discount)
        returns = returns.reshape(self.repeats, len(chosen), -1)
        ended = np.asarray(episodes.ended).reshape(self.repeats, len(chosen))
        one, other = np.triu_indices(self.repeats, k=1)
        both = ended[one] & ended[other]
        if not both.any():
            return np.zeros(returns.shape[2])
        differences: Float[np.ndarray, " objective"] = np.median(
            np.abs(returns[one] - returns[other])[both], axis=0
        )
        return differences
