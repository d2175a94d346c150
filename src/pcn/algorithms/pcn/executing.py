"""Executing commands a batch at a time, within the steps that are left."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Int, UInt32

from pcn.algorithms.execution import Execution, nth_key
from pcn.algorithms.pcn.rows import Archive
from pcn.algorithms.pcn.training import Training
from pcn.nets.policy import ConditionedPolicy


def notices_of_stopped(stopped: int, commands: int) -> list[str]:
    """Which commands are not offered because the steps were too few to execute them, if any."""
    if stopped == 0:
        return []
    offered = "no policy is offered as executed" if stopped == commands else "are not offered"
    return [
        f"{stopped} of {commands} commands could not be executed to their end within total_steps: "
        f"they count as missed, and {offered}"
    ]


class Executing:
    """Executes every command of an archive, one batch in each iteration.

    Where the steps that are left allow it, every command may take as long as an episode can. Else
    each may take one and a half times the steps of its stored episode, and those that take longer
    are stopped. Once all had their turn, stopped ones are executed again from the beginning, as
    long as there are steps. What is stopped then, too, has no return: that of a part of an episode
    is not that of the episode.
    """

    def __init__(
        self,
        training: Training,
        policy: ConditionedPolicy,
        archive: Archive,
        *,
        key: UInt32[np.ndarray, " 2"],
    ) -> None:
        self._training = training
        self._policy = policy
        self._archive = archive
        self._key = key
        self._execution = Execution.none(len(archive), training.spec.num_objectives)
        self._waiting = self._shortest_first(np.arange(len(archive)))
        self._is_last_turn = False
        self._num_batches = 0

    def _shortest_first(self, commands: Int[np.ndarray, " command"]) -> Int[np.ndarray, " command"]:
        return commands[np.argsort(self._archive.horizons[commands], kind="stable")]

    @property
    def done(self) -> bool:
        """Whether no command waits for its execution."""
        return len(self._waiting) == 0

    @property
    def execution(self) -> Execution:
        """What the commands returned whose episodes came to an end."""
        return self._execution

    @property
    def ended_mask(self) -> Bool[np.ndarray, " command"]:
        """Mark the commands whose episodes came to an end."""
        return self._execution.counts > 0

    def iterate(self) -> None:
        """Run the next batch of episodes."""
        batch = self._waiting[: self._training.actor.batch_size]
        limits = self._limits(batch)
        batch = batch[: len(limits)]
        if len(batch):
            self._run(batch, limits)
        # Where the steps are too few for the first command, it is passed over.
        self._waiting = self._waiting[max(1, len(batch)) :]
        if self.done and not self._is_last_turn:
            self._is_last_turn = True
            self._waiting = self._shortest_first(np.flatnonzero(~self.ended_mask))

    def _limits(self, batch: Int[np.ndarray, " command"]) -> Int[np.ndarray, " executed"]:
        """After how many steps the commands of a batch are stopped; as many as the steps allow."""
        left, longest = self._training.steps_left, self._training.spec.step_limit
        if left >= len(self._waiting) * longest:
            return np.full(len(batch), longest)
        needed = np.minimum(self._archive.horizons, longest).astype(np.int64)
        if self._is_last_turn:
            count = min(len(batch), max(1, left // longest))
            limit = min(longest, left // count)
            # With fewer steps than at first, a command would be stopped again.
            return np.full(count if limit >= needed[batch[0]] else 0, limit)
        # The steps of one whole episode are kept until one has come to an end.
        kept = longest if not self.ended_mask.any() and left >= longest else 0
        fitting = batch[np.cumsum(needed[batch]) <= left - kept]
        spare = max(0, left - int(needed[self._waiting].sum()) - longest)
        more = np.minimum(needed[fitting] // 2, spare // len(self._waiting))
        return np.minimum(needed[fitting] + more, longest)

    def _run(self, batch: Int[np.ndarray, " command"], limits: Int[np.ndarray, " command"]) -> None:
        training, count = self._training, len(batch)
        padded = np.resize(batch, training.actor.batch_size)
        episodes = training.actor.run(
            self._policy,
            self._archive.returns[padded],
            self._archive.horizons[padded].astype(np.float64),
            upper_bound=training.upper_bound(),
            lower_bound=training.lower_bound(),
            key=nth_key(self._key, self._num_batches),
            greedy=True,
            count=count,
            most_steps=np.resize(limits, len(padded)),
        )
        ended = np.asarray(episodes.ended)[:count]
        self._execution = self._execution.adding(
            batch[ended],
            episodes.returns(discount=training.config.discount)[:count][ended],
            np.asarray(episodes.lengths)[:count][ended],
        )
        self._num_batches += 1

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""
        arrays = {
            **self._execution.to_arrays("executing.execution"),
            "executing.waiting": self._waiting,
        }
        return arrays, {"num_batches": self._num_batches, "is_last_turn": self._is_last_turn}

    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        """Go back to a snapshot; those of earlier versions say what the first commands returned."""
        self._num_batches = facts["num_batches"]
        if "executing.waiting" in arrays:
            self._execution = Execution.from_arrays(arrays, "executing.execution")
            self._waiting = np.array(arrays["executing.waiting"])
            self._is_last_turn = facts["is_last_turn"]
            return
        lengths = np.array(arrays["executing.lengths"])
        executed = np.arange(len(lengths))
        returns = np.array(arrays["executing.returns"])
        self._execution = self._execution.adding(executed, returns, lengths)
        self._waiting = np.arange(len(lengths), len(self._archive))
