"""Scripts: lists of actions that are played as they are, and what is remembered of them."""

import hashlib
from collections.abc import Mapping

import gymnasium as gym
import numpy as np
from jaxtyping import Float, Int, Num, UInt64

from pcn.algorithms.pcn.refinements.abstract import AbstractState
from pcn.algorithms.pcn.training import Training
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead
from pcn.rollout import ScriptedAgent

Actions = Num[np.ndarray, "_ part"]
"""The actions of one episode, step by step."""
DISCRETE = gym.spaces.Discrete | gym.spaces.MultiDiscrete | gym.spaces.MultiBinary
"""Spaces of actions that are choices."""
LATEST = 4096
"""Hashes that are kept apart until they are sorted in; beyond the limit so many are forgotten."""


class Alike:
    """For each return of the archive, some lists of actions that returned the same.

    A list of actions that cannot be improved by a few changes may have the same return as one
    that can.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[float, ...], list[Actions]] = {}

    def follow(self, front: Float[np.ndarray, "point objective"]) -> None:
        """Forget returns that are no longer on the front."""
        kept = {tuple(point): self._known.get(tuple(point), []) for point in front.tolist()}
        self._known = kept

    def add(
        self, point: Float[np.ndarray, " objective"], actions: Actions, most: int, place: int
    ) -> None:
        """Note actions that return this; beyond `most`, they replace those at a place."""
        known = self._known[tuple(point.tolist())]
        if len(known) < most:
            known.append(actions)
        else:
            known[place % most] = actions

    def at(self, point: Float[np.ndarray, " objective"]) -> list[Actions]:
        """The actions that are known to return this."""
        return self._known[tuple(point.tolist())]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All of them, as named arrays for a checkpoint."""
        points = [point for point, known in self._known.items() for _ in known]
        scripts = [actions for known in self._known.values() for actions in known]
        if not scripts:
            return {}
        return {
            "alike.points": np.array(points),
            "alike.lengths": np.array([len(actions) for actions in scripts]),
            "alike.actions": np.concatenate(scripts),
        }

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self._known = {}
        scripts = np.split(arrays["alike.actions"], np.cumsum(arrays["alike.lengths"])[:-1])
        for point, actions in zip(arrays["alike.points"].tolist(), scripts, strict=True):
            self._known.setdefault(tuple(point), []).append(actions)


class Tried(AbstractState):
    """Which lists of actions have been played: the same list would bring the same again.

    Each is remembered by a hash. Most of them are in arrays of eight bytes each, because a
    dictionary takes ten times as much.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._settled = np.zeros(0, np.uint64)  # in the order in which they were played
        self._sorted = self._settled
        self._latest: dict[int, None] = {}
        self.alike = Alike()
        """Other lists of actions with the returns of the archive."""

    def is_new(self, actions: Actions) -> bool:
        """Whether these actions have not been played, as far as is remembered; now they have."""
        digest = hashlib.blake2b(np.ascontiguousarray(actions).tobytes(), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        if number in self._latest or self._is_settled(np.uint64(number)):
            return False
        self._latest[number] = None
        if len(self._latest) >= LATEST:
            self._settle_latest()
        return True

    def _settle_latest(self) -> None:
        hashes, new = self._hashes(), np.sort(np.array(list(self._latest), np.uint64))
        self._latest = {}
        if len(hashes) > self._most:  # the oldest are forgotten
            self._settle(hashes[-self._most :])
            return
        place = np.searchsorted(self._sorted, new)
        self._settled, self._sorted = hashes, np.insert(self._sorted, place, new)

    def _is_settled(self, number: np.uint64) -> bool:
        place = int(np.searchsorted(self._sorted, number))
        return place < len(self._sorted) and bool(self._sorted[place] == number)

    def _settle(self, hashes: UInt64[np.ndarray, " script"]) -> None:
        self._settled, self._sorted = hashes, np.sort(hashes)

    def _hashes(self) -> UInt64[np.ndarray, " script"]:
        """All hashes, oldest first."""
        latest = np.fromiter(self._latest, np.uint64, len(self._latest))
        return np.concatenate([self._settled, latest])

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The hashes, oldest first, and how many of them are settled."""
        settled = np.array(len(self._settled))
        return {"hashes": self._hashes(), "settled": settled, **self.alike.to_arrays()}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        hashes = np.array(arrays["hashes"])
        count = int(arrays.get("settled", len(hashes)))  # older checkpoints do not say it
        self._settle(hashes[:count])
        self._latest = dict.fromkeys(hashes[count:].tolist())
        if "alike.lengths" in arrays:  # checkpoints from before there were any have none
            self.alike.from_arrays(arrays)


def play_scripts(
    training: Training,
    scripts: list[Actions],
    head: AbstractActionHead,
    *,
    most_steps: Int[np.ndarray, " episode"],
    count: int | None = None,
) -> Episodes:
    """Play lists of actions, the last action of each again and again after its end.

    The first `count` are real, and each is broken off after its `most_steps`.
    """
    limit, count = training.spec.step_limit, len(scripts) if count is None else count
    padded = np.zeros((len(scripts), limit, *scripts[0].shape[1:]), scripts[0].dtype)
    for row, actions in zip(padded, scripts, strict=True):
        row[: len(actions)] = actions[:limit]
        row[len(actions) :] = actions[-1]
    return training.runner.run(
        ScriptedAgent(padded, np.zeros(len(scripts), np.int32), head),
        training.next_key(),
        len(scripts),
        count=count,
        most_steps=most_steps,
    )
