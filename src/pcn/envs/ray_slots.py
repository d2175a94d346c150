"""Slots on the nodes of a Ray cluster; episodes that are lost with a node are run again."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pcn.cluster import connected, nodes_with_cores, reason_of, worker_environment
from pcn.envs.environment import Watcher
from pcn.envs.gymnasium_source import MakeEnv
from pcn.envs.slot_process import SlotProcess
from pcn.envs.slots import Beginning, Outcome, Played, Script, ignore_steps
from pcn.envs.spec import EnvironmentSpec
from pcn.envs.worker_slots import (
    ANSWER_SECONDS,
    WorkerDied,
    WorkerSlots,
    is_importable,
)
from pcn.errors import UserError

LOST_ATTEMPTS = 4
"""How often the episodes of one message may be lost before it fails."""
ACTOR_SECONDS = 60.0
"""Seconds until an actor has started, or has reported that its worker does not answer."""


class Answer(NamedTuple):
    """The answer of a node."""

    answers: dict[int, Any]
    """By slot."""
    failed: str = ""
    """An error that ends the training, in one sentence."""
    lost: str = ""
    """The process that was lost; others take over its episodes."""


class NodeSlots:
    """Some slots on one node, each in a worker process there; an actor of the cluster.

    A message of Ray takes ten times as long as one between processes of a machine, so one message
    is sent for all slots of a node together. A single slot is in the actor's own process.
    """

    def __init__(
        self, make: MakeEnv, spec: EnvironmentSpec, slots: Sequence[int], answer_seconds: float
    ) -> None:
        self._numbers = {slot: number for number, slot in enumerate(slots)}
        self._alone = SlotProcess(make, spec) if len(slots) == 1 else None
        self._start = partial(WorkerSlots, make, spec, len(slots), answer_seconds=answer_seconds)
        self._slots: WorkerSlots | None = None

    def answer(self, what: str, messages: Mapping[int, Any]) -> Answer:
        """The result of a method of the slots."""
        if self._alone is not None:
            [(slot, message)] = messages.items()
            failed, found = self._alone.answer(what, message)
            return Answer({}, failed=found) if failed else Answer({slot: found})
        try:
            self._slots = self._slots or self._start()
            ask = getattr(self._slots, what)
            answers = ask({self._numbers[slot]: message for slot, message in messages.items()})
        except WorkerDied as error:
            return Answer({}, lost=str(error))
        except UserError as error:
            return Answer({}, failed=str(error))
        return Answer({slot: answers[self._numbers[slot]] for slot in messages})


@dataclass
class _Episode:
    """The actions and rewards in a slot since its reset."""

    seed: int
    actions: list[Any] = field(default_factory=list)
    rewards: list[np.ndarray] = field(default_factory=list)


@dataclass
class _Share:
    """The slots of one node, and the actor that holds them."""

    slots: list[int]
    turn: int
    """The index of the node."""
    actor: Any
    is_new: bool = False
    """Whether the actor replaces a lost one, and has not taken over its episodes yet."""


class RaySlots:
    """Instances distributed over the nodes by their cores, and kept between episodes.

    Results do not depend on where an instance is: its process is seeded with every episode. If a
    process or a node is lost, others repeat the same actions after the same seeds and continue.
    """

    def __init__(
        self,
        make: MakeEnv,
        spec: EnvironmentSpec,
        num_slots: int,
        *,
        answer_seconds: float = ANSWER_SECONDS,
        watcher: Watcher = ignore_steps,
    ) -> None:
        self.closed = False
        self._watcher = watcher
        self._connection = ExitStack()
        self._ray = self._connection.enter_context(connected())
        self._arguments = make, spec
        self._answer_seconds = answer_seconds
        self._episodes: dict[int, _Episode] = {}
        self._shares = [
            _Share(slots, turn, self._start(slots, turn))
            for turn, slots in self._shared_out(num_slots)
        ]

    def reset(self, seeds: Mapping[int, int]) -> dict[int, tuple[Any, dict[str, Any]]]:
        """Start an episode in each of these slots."""
        answers = self._ask("reset", seeds)
        self._episodes |= {slot: _Episode(seed) for slot, seed in seeds.items()}
        return answers

    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        """Take an action in each of these slots."""
        answers = self._ask("step", actions)
        for slot, (_, reward, *_) in answers.items():
            self._episodes[slot].actions.append(actions[slot])
            self._episodes[slot].rewards.append(reward)
        self._watcher(len(answers))
        return answers

    def play(self, scripts: Mapping[int, Script]) -> dict[int, Played]:
        """Run a whole episode in each of these slots, with one message per node."""
        answers = self._ask("play", scripts)
        for slot in scripts:
            self._episodes.pop(slot, None)
        self._watcher(sum(len(played.rewards) for played in answers.values()))
        return answers

    def close(self) -> None:
        """End every actor, and the connection if nothing else uses it."""
        if not self.closed:
            self.closed = True
            for share in self._shares:
                self._ray.kill(share.actor)
            self._connection.close()

    def _ask(self, what: str, messages: Mapping[int, Any]) -> dict[int, Any]:
        """Send messages and return the answers; lost episodes are repeated."""
        errors = self._ray.exceptions
        lost = errors.RayActorError, errors.ActorUnschedulableError
        found: dict[int, Any] = {}
        reason = ""
        for attempt in range(LOST_ATTEMPTS):
            asked = [
                (share, self._send(share, what, mine))
                for share in self._shares
                if (mine := {slot: messages[slot] for slot in share.slots if slot in messages})
                and not found.keys() >= mine.keys()
            ]
            for share, answers in asked:
                elsewhere = attempt > 0
                try:
                    answer = self._received(answers)
                except lost as error:
                    # Not on the same node again: it may take a while until its end is known.
                    answer, elsewhere = Answer({}, lost=reason_of(error)), True
                found |= answer.answers
                share.is_new = bool(answer.lost)
                if answer.lost:
                    reason = answer.lost
                    self._replace(share, elsewhere=elsewhere)
            if len(found) == len(messages):
                return {slot: found[slot] for slot in messages}
        self.close()
        raise UserError(
            f"Ray lost the simulators of a message {LOST_ATTEMPTS} times, "
            f"the last time because: {reason}"
        )

    def _send(self, share: _Share, what: str, messages: Mapping[int, Any]) -> list[Any]:
        """Send messages, after those that a new actor needs first."""
        first = []
        if share.is_new:
            over = messages if what != "step" else {}
            beginnings = {
                slot: Beginning(episode.seed, episode.actions)
                for slot in share.slots
                if slot not in over and (episode := self._episodes.get(slot))
            }
            if beginnings:
                first.append(share.actor.answer.remote("begin", beginnings))
        return [*first, share.actor.answer.remote(what, messages)]

    def _received(self, answers: list[Any]) -> Answer:
        """The last answer of an actor; a `UserError` if it failed or hangs."""
        seconds = ACTOR_SECONDS + self._answer_seconds * len(answers)
        try:
            *before, last = self._ray.get(answers, timeout=seconds)
        except self._ray.exceptions.GetTimeoutError:
            self.close()
            raise UserError(
                f"{self._arguments[1].name}: a simulator on the cluster has not answered for "
                f"{seconds:.0f} s and was ended; --answer-seconds allows more"
            ) from None
        for caught_up in before:
            if caught_up.failed or caught_up.lost:
                last = caught_up
            for slot, rewards in caught_up.answers.items():
                if not np.array_equal(rewards, self._episodes[slot].rewards):
                    last = Answer({}, failed=(
                        "an episode whose process was lost took another course when it was run "
                        "again: the environment does not repeat itself with the same seed"
                    ))  # fmt: skip
        if last.failed:
            self.close()
            raise UserError(last.failed)
        return last

    def _shared_out(self, num_slots: int) -> list[tuple[int, list[int]]]:
        """The order of nodes and the slots of each, in proportion to their cores.

        Worker processes cannot import what is defined in a script that their node does not have. In
        that case each slot has an actor of its own.
        """
        turns = [
            turn
            for turn, node in enumerate(nodes_with_cores(self._ray))
            for _ in range(int(node["Resources"]["CPU"]))
        ] or [0]
        at = [turns[slot % len(turns)] for slot in range(num_slots)]
        if not is_importable(*self._arguments):
            return [(turn, [slot]) for slot, turn in enumerate(at)]
        return [
            (turn, [slot for slot in range(num_slots) if at[slot] == turn])
            for turn in sorted({*at})
        ]

    def _replace(self, share: _Share, *, elsewhere: bool) -> None:
        """Start another actor for the same slots, on the same node or on the next one."""
        self._ray.kill(share.actor)
        share.turn += elsewhere
        share.actor = self._start(share.slots, share.turn)

    def _start(self, slots: list[int], turn: int) -> Any:
        """Start an actor on the next node."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = [node["NodeID"] for node in nodes_with_cores(self._ray)]
        actor_class = self._ray.remote(NodeSlots).options(
            num_cpus=0,  # there may be more slots than cores, and none of them should wait
            max_restarts=0,
            runtime_env=worker_environment(),
            # Ray itself puts actors without cores anywhere, even all on the head node.
            scheduling_strategy=NodeAffinitySchedulingStrategy(nodes[turn % len(nodes)], soft=False)
            if nodes
            else "DEFAULT",
        )
        return actor_class.remote(*self._arguments, slots, self._answer_seconds)
