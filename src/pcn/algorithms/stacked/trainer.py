"""Shared training code of MONES and RA: the last iteration executes the policies."""

from abc import abstractmethod
from dataclasses import replace

import numpy as np
from jaxtyping import Int, UInt32

from pcn.algorithms.execution import Execution
from pcn.algorithms.stacked.config import StackedConfig
from pcn.algorithms.stacked.execute import execute
from pcn.algorithms.stacked.standardise import standardise
from pcn.algorithms.trainer import AbstractTrainer, Outcome, Progress, Snapshot, too_few_steps
from pcn.envs.environment import AbstractEnvironment
from pcn.errors import UserError
from pcn.nets.plain_policy import PlainPolicy
from pcn.rollout.runner import Runner

MOST_RESERVED = 0.25
"""Share of the budget, at most, that training leaves to the last executions, if that is enough
for one of them."""


class AbstractStackedTrainer(AbstractTrainer):
    """Trains until the budget is spent; then one more iteration executes the policies."""

    config: StackedConfig

    def __init__(
        self,
        environment: AbstractEnvironment,
        config: StackedConfig,
        *,
        seed: int,
        steps_before: int = 0,
    ) -> None:
        """`steps_before` were spent before the training, and count."""
        self.environment = environment
        self.config = config
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
        # Nothing is requested of these policies, so they have no fidelity.
        self._outcome = replace(outcome, facts={**outcome.facts, "takes_commands": False})
        archive = self._outcome.coverage_set.requested
        return Progress(self.steps, loss, archive, phase="executing")

    def outcome(self) -> Outcome:
        """The policies and what each of them returned."""
        assert self._outcome is not None, "the training is not done"
        return self._outcome

    def snapshot(self) -> Snapshot:
        """The state between two iterations.

        For a finished training it is the state before its last iteration, which is then run again.
        """
        return self._state() if self._before_last is None else self._before_last

    @property
    def _executions(self) -> int:
        """How often a policy is executed, where steps suffice."""
        return 1 if self.environment.spec.deterministic else self.config.executions

    @property
    def _steps_left(self) -> int:
        return max(self.config.total_steps - self.steps, 0)

    @property
    def _steps_left_to_train(self) -> int:
        """The rest of the budget, without the steps reserved for the last executions."""
        total = self.config.total_steps
        # One whole episode at least, unless that is more than half of everything.
        most = max(MOST_RESERVED * total, min(self.environment.spec.step_limit, total / 2))
        return int(self._steps_left - min(self._reserved_steps, most))

    def _most_steps_each(self, num_episodes: int) -> int:
        """The longest possible training episodes, so that all of them fit into the budget."""
        most = self._steps_left_to_train // num_episodes
        if most < 1:
            raise UserError(
                f"total_steps={self.config.total_steps} is too small: "
                f"{max(self._steps_left_to_train, 0)} steps are left for {num_episodes:,} episodes "
                "of training"
            )
        return most

    def _standardise(self, policy: PlainPolicy) -> PlainPolicy:
        """The policy fitted to random episodes, for which half of the steps are used at most."""
        count = self.config.standardise_episodes
        if not self.config.standardise:
            return policy
        most_steps = max(self._steps_left_to_train // (2 * count), 1)
        return standardise(self._runner, policy, count, self._next_key(), most_steps=most_steps)

    def _execute(
        self,
        policies: PlainPolicy,
        num_policies: int,
        *,
        executions: int,
        total_steps: int,
        most_steps: int | None = None,
    ) -> tuple[Execution, Int[np.ndarray, " executed"]]:
        """Execute policies greedily, on fresh seeds, within so many steps; see `execute`.

        Returns what those that came to an end returned, and which these are.
        """
        execution = execute(
            self._runner,
            policies,
            num_policies,
            discount=self.config.discount,
            key=self._next_key(),
            executions=executions,
            total_steps=total_steps,
            most_steps=most_steps,
        )
        executed = np.flatnonzero(execution.counts)
        if len(executed) == 0:
            raise too_few_steps(self.config.total_steps, self.environment.spec)
        return execution.taking(executed), executed

    def _next_key(self) -> UInt32[np.ndarray, " 2"]:
        return self._rng.integers(1 << 32, size=2, dtype=np.uint32)

    @property
    @abstractmethod
    def _budget_spent(self) -> bool:
        """Whether no more is left of the budget than the last executions will take."""

    @property
    @abstractmethod
    def _reserved_steps(self) -> float:
        """Steps that training leaves to the last executions, as far as it may."""

    @abstractmethod
    def _train(self) -> Progress:
        """One iteration of training."""

    @abstractmethod
    def _end(self) -> tuple[Outcome, float]:
        """Execute the policies that are reported; returns them and the last loss."""

    @abstractmethod
    def _state(self) -> Snapshot:
        """Everything that a training needs to go on exactly here."""
