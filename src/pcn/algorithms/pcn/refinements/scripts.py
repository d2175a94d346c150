"""Scripts: lists of actions that are played as they are, and what is remembered of them."""

import hashlib
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int, Num

from pcn.algorithms.pcn.refinements.abstract import AbstractState
from pcn.algorithms.pcn.training import Training
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead
from pcn.rollout import ScriptedAgent

Actions = Num[np.ndarray, "_ part"]
"""The actions of one episode, step by step."""


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
    """Which lists of actions have been played: the same list would bring the same again."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._hashes: dict[int, None] = {}  # in the order in which they were played
        self.alike = Alike()
        """Other lists of actions with the returns of the archive."""

    def is_new(self, actions: Actions) -> bool:
        """Whether these actions have not been played, as far as is remembered; now they have."""
        digest = hashlib.blake2b(np.ascontiguousarray(actions).tobytes(), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        if number in self._hashes:
            return False
        self._hashes[number] = None
        if len(self._hashes) > self._most:
            del self._hashes[next(iter(self._hashes))]
        return True

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The hashes, oldest first."""
        hashes = np.fromiter(self._hashes, np.uint64, len(self._hashes))
        return {"hashes": hashes, **self.alike.to_arrays()}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self._hashes = dict.fromkeys(arrays["hashes"].tolist())
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
