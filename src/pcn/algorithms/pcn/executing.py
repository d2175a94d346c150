"""Executing commands a batch at a time, so that it can be interrupted and resumed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import UInt32

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.rows import Archive
from pcn.algorithms.pcn.training import Training
from pcn.nets.policy import ConditionedPolicy


class Executing:
    """Executes every command of an archive with one policy, one batch in each iteration."""

    def __init__(
        self,
        training: Training,
        policy: ConditionedPolicy,
        archive: Archive,
        *,
        executions: int,
        key: UInt32[np.ndarray, " 2"],
    ) -> None:
        self._training = training
        self._policy = policy
        self._archive = archive
        self._executions = executions
        self._key = key
        self._returns = np.zeros((0, training.spec.num_objectives))
        self._lengths = np.zeros(0, np.int64)
        self._num_batches = 0

    @property
    def done(self) -> bool:
        """Whether every command has been executed as often as it should be."""
        return len(self._lengths) == self._executions * len(self._archive)

    def iterate(self) -> None:
        """Run the next batch of episodes."""
        training = self._training
        episodes = next(
            training.actor.execute(
                self._policy,
                self._archive.returns,
                self._archive.horizons.astype(np.float64),
                upper_bound=training.upper_bound(),
                lower_bound=training.lower_bound(),
                key=self._key,
                executions=self._executions,
                skip=self._num_batches,
            )
        )
        real = np.asarray(episodes.real_mask)
        returns = episodes.returns(discount=training.config.discount)[real]
        self._returns = np.concatenate([self._returns, returns])
        self._lengths = np.concatenate([self._lengths, np.asarray(episodes.lengths)[real]])
        self._num_batches += 1

    @property
    def execution(self) -> Execution:
        """What the commands returned, once `done`."""
        return Execution.of_episodes(self._returns, self._lengths, self._executions)

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""
        arrays = {"executing.returns": self._returns, "executing.lengths": self._lengths}
        return arrays, {"num_batches": self._num_batches}

    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        """Go back to a snapshot."""
        self._returns = np.array(arrays["executing.returns"])
        self._lengths = np.array(arrays["executing.lengths"])
        self._num_batches = facts["num_batches"]
