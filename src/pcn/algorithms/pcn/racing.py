"""Racing: commands are executed in rounds, and more often where they cannot be ranked yet."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt32

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.contender import Entries
from pcn.algorithms.pcn.distribution_ranking import compared
from pcn.algorithms.pcn.ranking import unbeaten_mask, unranked_mask
from pcn.algorithms.pcn.training import Training


@dataclass(frozen=True)
class Rules:
    """How often commands are executed."""

    first: int
    """Executions of every command."""
    growth: int
    """Each later round brings the undecided commands to so many times as many."""
    largest: int
    """Most executions of a command."""
    confidence: float
    """Of the intervals that decide."""
    indifference: float
    """Differences up to this share of the range do not matter."""
    drops: bool
    """Whether commands leave the race: those that another one beats, one of two identical ones,
    and the worst of the undecided where too many would be left."""
    final_executions: int = 1
    """Commands are too many if the steps after the race are too few to execute each so often."""
    shares_randomness: bool = True
    """Whether the n-th executions of all commands meet the same randomness: differences between
    commands show early then, but what all have in common is as uncertain as that of one."""
    identical_after: int = 16
    """Commands are identical once they have returned the same in so many executions."""
    patience: float | None = None
    """Episodes are broken off after so many times their desired horizon, or their contender's
    median one if that is longer.

    Their command is out of the race then, unless more of its episodes have ended: its executions go
    on to the step limit from then on. None: all do from the beginning."""


class Racing:
    """Executes the commands of several contenders, a batch in each iteration.

    It takes at most `most_steps` environment steps: a batch is as large as
    if every episode of it took as long as it can. If not a single episode is sure to fit, nothing
    is executed; where no command may be dropped, one episode is tried with the steps that there
    are, and broken off when they are used up.
    """

    def __init__(
        self,
        training: Training,
        entries: Entries,
        rules: Rules,
        *,
        most_steps: int,
        key: UInt32[np.ndarray, " 2"],
        entered: Bool[np.ndarray, " command"] | None = None,
    ) -> None:
        """All commands race, or those that have `entered`."""
        self._training = training
        self._entries = entries
        self._rules = rules
        self._most_steps = most_steps
        self._key = key
        limit = training.spec.step_limit
        self._limits = np.full(len(entries), limit, np.int64)
        if rules.patience is not None:
            # A short command may have to wait for its chance as long as others need.
            typical = np.array([np.median(one.horizons) for one in entries.contenders])
            longest = np.maximum(entries.horizons, typical[entries.network])
            self._limits = np.minimum(np.ceil(rules.patience * longest), limit).astype(np.int64)
        self.execution = Execution.none(len(entries), training.spec.num_objectives)
        self.num_steps = 0
        self.broken_off: Bool[np.ndarray, " command"] = np.zeros(len(entries), dtype=bool)
        """Which commands are out of the race because their episodes did not come to an end."""
        self.done = False
        self._left = np.ones(len(entries), dtype=bool) if entered is None else entered
        self._active: Bool[np.ndarray, " command"] = self._left
        self._target = rules.first

    @property
    def left(self) -> Bool[np.ndarray, " command"]:
        """The commands that were executed and are still in the race."""
        return self._left & (self.execution.counts > 0) & ~self.broken_off

    @property
    def _steps_left(self) -> int:
        return self._most_steps - self.num_steps

    def iterate(self) -> None:
        """Run the next batch of episodes; once a round is over, see who needs another one."""
        commands, numbers = self._next_batch()
        if len(commands):
            self._run(commands, numbers)
        if not self.done and not self._pending.any():
            self._next_round()

    @property
    def _pending(self) -> Bool[np.ndarray, " command"]:
        return self._active & ~self.broken_off & (self.execution.counts < self._target)

    def _next_batch(self) -> tuple[Int[np.ndarray, " episode"], Int[np.ndarray, " episode"]]:
        """The commands to execute next, and the number of each execution.

        Those with the fewest executions come first; all of a batch have one network. Where steps
        are short, networks take turns, execution by execution: one alone would use them up. Nothing
        is returned, and the race is over, when no episode is sure to fit into the steps.
        """
        nothing = np.zeros(0, np.int64)
        pending = np.flatnonzero(self._pending)
        if len(pending) == 0:
            return nothing, nothing
        counts, network = self.execution.counts, self._entries.network
        first = pending[np.argmin(counts[pending])]
        same = pending[network[pending] == network[first]]
        target = self._target
        expected = (self._entries.horizons[pending] * (target - counts[pending])).sum()
        if len(same) < len(pending) and expected > self._steps_left:
            target = counts[first] + 1
            same = same[counts[same] < target]
        commands = np.repeat(same, target - counts[same])
        numbers = np.concatenate([np.arange(counts[one], target) for one in same])
        order = np.argsort(numbers, kind="stable")[: self._training.actor.batch_size]
        # Every episode may take as long as it can.
        most = np.cumsum(self._limits[commands[order]])
        fits = int((most <= self._steps_left).sum())
        if fits == 0 and not self._rules.drops and self.num_steps == 0 and self._steps_left > 0:
            shortest = np.argmin(self._entries.horizons[commands[order]])
            order, fits = order[[shortest]], 1
        self.done = fits == 0
        order = order[:fits]
        return commands[order], numbers[order]

    def _run(
        self, commands: Int[np.ndarray, " episode"], numbers: Int[np.ndarray, " episode"]
    ) -> None:
        training, entries = self._training, self._entries
        contender = entries.contenders[int(entries.network[commands[0]])]
        count, size = len(commands), training.actor.batch_size
        padded = np.resize(commands, size)
        steps_before = training.steps
        episodes = training.actor.run(
            contender.policy,
            entries.desired_returns[padded],
            entries.horizons[padded],
            upper_bound=contender.bounded(training.upper_bound()),
            lower_bound=training.lower_bound(),
            key=self._key,
            greedy=True,
            follows_rewards=contender.follows_rewards,
            count=count,
            most_steps=np.minimum(self._limits[padded], self._steps_left),
            numbers=np.resize(self._seeds(commands, numbers), size),
        )
        self.num_steps += training.steps - steps_before
        ended = np.asarray(episodes.ended)[:count]
        known = ended & ~self._repeated_mask(commands, numbers, ended)
        self.execution = self.execution.adding(
            commands[known],
            episodes.returns(discount=training.config.discount)[:count][known],
            np.asarray(episodes.lengths)[:count][known],
        )

    def _seeds(
        self, commands: Int[np.ndarray, " episode"], numbers: Int[np.ndarray, " episode"]
    ) -> Int[np.ndarray, " episode"]:
        """Equal for executions that meet the same randomness."""
        if self._rules.shares_randomness:
            return numbers
        return numbers * len(self._entries) + commands

    def _repeated_mask(
        self,
        commands: Int[np.ndarray, " episode"],
        numbers: Int[np.ndarray, " episode"],
        ended: Bool[np.ndarray, " episode"],
    ) -> Bool[np.ndarray, " episode"]:
        """Give commands up whose episodes were broken off, or mark what is executed again.

        A command is given up if no more of its episodes have ended than were broken off now, or if
        the step limit is more than the steps that are left. Otherwise a long episode is a rare
        outcome: the execution is repeated up to the step limit, and so are the later ones, because
        a command's executions are kept in the order of their numbers.
        """
        num_commands, step_limit = len(self._entries), self._training.spec.step_limit
        num_broken = np.bincount(commands[~ended], minlength=num_commands)
        num_ended = self.execution.counts + np.bincount(commands[ended], minlength=num_commands)
        affordable = self._steps_left >= step_limit
        rare = (num_broken < num_ended) & (self._limits < step_limit) & affordable
        self.broken_off = self.broken_off | ((num_broken > 0) & ~rare)
        again = (num_broken > 0) & rare
        self._limits = np.where(again, step_limit, self._limits)
        first_broken = np.full(num_commands, np.iinfo(np.int64).max)
        np.minimum.at(first_broken, commands[~ended], numbers[~ended])
        return again[commands] & (numbers >= first_broken[commands])

    def _next_round(self) -> None:
        """See who leaves the race, and who needs more executions."""
        rules, index = self._rules, np.flatnonzero(self.left)
        self._active = np.zeros_like(self._active)
        self.done = len(index) < 2 or self._target >= rules.largest
        if self.done:
            return
        self._target = min(self._target * rules.growth, rules.largest)
        execution = self.execution.taking(index)
        order = self._training.dataset.order
        comparison = compared(execution.singles, rules.indifference, order)
        kept = np.ones(len(index), dtype=bool)
        if rules.drops:
            kept = unbeaten_mask(
                comparison, confidence=rules.confidence, identical_after=rules.identical_after
            )
        undecided = unranked_mask(comparison, kept, rules.confidence)
        if rules.drops:
            clear = comparison.clearness(rules.confidence).max(axis=0)
            waiting = np.flatnonzero(undecided)
            waiting = waiting[np.argsort(clear[waiting], kind="stable")]
            later = self._without_room(execution, waiting)
            undecided[later] = False
            kept[self._too_many(execution, kept, clear, later)] = False
        self._left = np.zeros_like(self._left)
        self._left[index[kept]] = True
        self._active[index[undecided]] = True
        self.done = not self._pending.any()

    def _too_many(
        self,
        execution: Execution,
        kept: Bool[np.ndarray, " left"],
        clear: Float[np.ndarray, " left"],
        later: Int[np.ndarray, " waiting"],
    ) -> Int[np.ndarray, " dropped"]:
        """Those of the commands without room that even the steps after the race are too few for.

        Few executions tell little: as long as all others can be executed later, none of them has
        to leave because it looks bad so far.
        """
        order = np.flatnonzero(kept)
        order = order[np.argsort(clear[order], kind="stable")]
        cost = self._rules.final_executions * np.cumsum(execution.horizons[order])
        steps_after = self._training.steps_left - self._steps_left
        return np.intersect1d(order[cost > steps_after], later)

    def _without_room(
        self, execution: Execution, waiting: Int[np.ndarray, " waiting"]
    ) -> Int[np.ndarray, " left_out"]:
        """Those of the waiting commands, best first, that the next round has no room for.

        A round takes at most half of the steps that are left, so that others can follow. It leaves
        out at most half of the waiting; where the steps are too few for that, it is a shorter and
        the last one.
        """
        missing = self._target - execution.counts[waiting]
        cost = np.cumsum(missing * execution.horizons[waiting])
        room = max(int((cost <= self._steps_left / 2).sum()), -(-len(waiting) // 2))
        if room and cost[room - 1] > self._steps_left:
            share = self._steps_left / cost[room - 1]
            self._target -= int(missing[:room].max() * (1 - share))
        return waiting[room:]

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""
        arrays = {
            **self.execution.to_arrays("racing.execution"),
            "racing.broken_off": self.broken_off,
            "racing.active": self._active,
            "racing.left": self._left,
            "racing.limits": self._limits,
        }
        facts = {
            "most_steps": self._most_steps,
            "num_steps": self.num_steps,
            "target": self._target,
            "done": self.done,
        }
        return arrays, facts

    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        """Go back to a snapshot."""
        self.execution = Execution.from_arrays(arrays, "racing.execution")
        self.broken_off = np.array(arrays["racing.broken_off"])
        self._active = np.array(arrays["racing.active"])
        self._left = np.array(arrays["racing.left"])
        self._limits = np.array(arrays.get("racing.limits", self._limits))
        self._most_steps, self.num_steps = facts["most_steps"], facts["num_steps"]
        self._target, self.done = facts["target"], facts["done"]
