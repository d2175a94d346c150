"""What the trainings of MONES and RA share: a last iteration that executes the policies."""

from abc import abstractmethod
from dataclasses import replace

import numpy as np
from jaxtyping import UInt32

from pcn.algorithms.trainer import AbstractTrainer, Outcome, Progress, Snapshot
from pcn.envs.environment import AbstractEnvironment
from pcn.rollout.runner import Runner


class AbstractStackedTrainer(AbstractTrainer):
    """Trains until the budget is spent; then one more iteration executes the policies."""

    def __init__(
        self, environment: AbstractEnvironment, *, seed: int, steps_before: int = 0
    ) -> None:
        """`steps_before` were spent before the training begins, and count."""
        self.environment = environment
        self._runner = Runner(environment)
        self._runner.steps = steps_before
        self._rng = np.random.default_rng(seed)
        self._outcome: Outcome | None = None
        self._before_last: Snapshot | None = None

    @property
    def steps(self) -> int:
        """Environment steps taken so far."""
        return self._runner.steps

    @property
    def done(self) -> bool:
        """Whether the policies have been executed for the last time."""
        return self._outcome is not None

    def iterate(self) -> Progress:
        """Train a little further; once the budget is spent, execute the policies."""
        if not self._budget_spent:
            return self._train()
        self._before_last = self._state()
        outcome, loss = self._end()
        # Nothing is requested of these policies, so nobody should be shown how faithful they are.
        self._outcome = replace(outcome, facts={**outcome.facts, "takes_commands": False})
        archive = self._outcome.coverage_set.requested
        return Progress(self.steps, loss, archive, phase="executing")

    def outcome(self) -> Outcome:
        """The policies and what each of them returned."""
        assert self._outcome is not None, "the training is not done"
        return self._outcome

    def snapshot(self) -> Snapshot:
        """The state between two iterations.

        A training that is done goes back to before its last iteration: that one is run again.
        """
        return self._state() if self._before_last is None else self._before_last

    def _next_key(self) -> UInt32[np.ndarray, " 2"]:
        return self._rng.integers(1 << 32, size=2, dtype=np.uint32)

    @property
    @abstractmethod
    def _budget_spent(self) -> bool:
        """Whether no more is left of the budget than the last executions will take."""

    @abstractmethod
    def _train(self) -> Progress:
        """One iteration of training."""

    @abstractmethod
    def _end(self) -> tuple[Outcome, float]:
        """Execute the policies that are handed over; returns them and the last loss."""

    @abstractmethod
    def _state(self) -> Snapshot:
        """Everything that a training needs to go on exactly here."""
