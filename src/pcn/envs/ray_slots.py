"""Slots on the nodes of a Ray cluster, each in an actor; what is lost with a node is run again."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pcn.cluster import connected, nodes_with_cores, reason_of, worker_environment
from pcn.envs.gymnasium_source import MakeEnv
from pcn.envs.slots import Beginning, Outcome, Played, Script
from pcn.envs.spec import EnvironmentSpec
from pcn.envs.worker_slots import SlotProcess
from pcn.errors import UserError

LOST_ATTEMPTS = 4
"""How many actors one message may lose before it is given up."""


@dataclass
class _Episode:
    """What has happened in a slot since it was reset."""

    seed: int
    actions: list[Any] = field(default_factory=list)
    rewards: list[np.ndarray] = field(default_factory=list)


class RaySlots:
    """Each instance in an actor of the cluster, which is kept from one episode to the next.

    Actors are shared out among the nodes by their cores. Results do not depend on where one is: its
    process is seeded with every episode, like a worker process. When one is lost, another one
    takes the same actions after the same seed, and goes on.
    """

    def __init__(self, make: MakeEnv, spec: EnvironmentSpec, num_slots: int) -> None:
        self.closed = False
        self._connection = ExitStack()
        self._ray = self._connection.enter_context(connected())
        self._arguments = make, spec
        self._episodes: dict[int, _Episode] = {}
        self._actors = {slot: self._start(turn=slot) for slot in range(num_slots)}

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
        return answers

    def play(self, scripts: Mapping[int, Script]) -> dict[int, Played]:
        """Run a whole episode in each of these slots, with one message."""
        return self._ask("play", scripts)

    def close(self) -> None:
        """End every actor, and the connection if nobody else uses it."""
        if not self.closed:
            self.closed = True
            for actor in self._actors.values():
                self._ray.kill(actor)
            self._connection.close()

    def _ask(self, what: str, messages: Mapping[int, Any]) -> dict[int, Any]:
        """The answers to messages, whatever is lost on the way."""
        errors = self._ray.exceptions
        lost = errors.RayActorError, errors.ActorUnschedulableError
        found: dict[int, Any] = {}
        for attempt in range(LOST_ATTEMPTS):
            asked = {
                slot: self._send(slot, what, message, catch_up=attempt > 0)
                for slot, message in messages.items()
                if slot not in found
            }
            for slot, answers in asked.items():
                try:
                    found[slot] = self._received(slot, answers)
                except lost as error:
                    reason = reason_of(error)
                    self._ray.kill(self._actors[slot])
                    # Not on the same node again: it may take a while until its end is known.
                    self._actors[slot] = self._start(turn=slot + attempt + 1)
            if len(found) == len(messages):
                return {slot: found[slot] for slot in messages}
        self.close()
        raise UserError(
            f"Ray lost {LOST_ATTEMPTS} actors of one environment, the last time because: {reason}; "
            "a recorded run goes on from its last checkpoint with `pcn resume`"
        )

    def _send(self, slot: int, what: str, message: Any, *, catch_up: bool) -> list[Any]:
        """Send a message, and before it what a new actor has to do first."""
        answer = self._actors[slot].answer
        first = []
        if catch_up and what == "step":
            episode = self._episodes[slot]
            first.append(answer.remote("begin", Beginning(episode.seed, episode.actions)))
        return [*first, answer.remote(what, message)]

    def _received(self, slot: int, answers: list[Any]) -> Any:
        """What a slot has answered last; a `UserError` if it failed, or did not catch up."""
        *before, (failed, answer) = self._ray.get(answers)
        for failed_before, rewards in before:
            failed, answer = (True, rewards) if failed_before else (failed, answer)
            if not failed and not np.array_equal(rewards, self._episodes[slot].rewards):
                failed, answer = True, (
                    "an episode whose actor was lost took another course when it was run again: "
                    "the environment does not repeat itself with the same seed"
                )  # fmt: skip
        if failed:
            self.close()
            raise UserError(answer)
        return answer

    def _start(self, turn: int) -> Any:
        """An actor on the node whose turn it is."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = nodes_with_cores(self._ray)
        turns = [node["NodeID"] for node in nodes for _ in range(int(node["Resources"]["CPU"]))]
        actor_class = self._ray.remote(SlotProcess).options(
            num_cpus=0,  # more than there are cores, so that none of these ever waits
            max_restarts=0,
            runtime_env=worker_environment(),
            # Ray itself puts actors without cores anywhere, even all on the head node.
            scheduling_strategy=NodeAffinitySchedulingStrategy(turns[turn % len(turns)], soft=False)
            if turns
            else "DEFAULT",
        )
        return actor_class.remote(*self._arguments)
