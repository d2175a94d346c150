"""The latest steps of all episodes: what was observed, done, received, and observed next."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import prod
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.episodes import Episodes, flat

_ALIGNMENT = 64
"""Bytes: JAX reads arrays of the host in place if their address is a multiple of this."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps of some episodes, in the order in which they were taken.

    Where actions are masked, a mask stands behind the numbers of each observation.
    """

    observations: Float[np.ndarray, "step number"]
    options: Int[np.ndarray, " step"]
    """The action of each step, all parts as one number."""
    rewards: Float[np.ndarray, "step objective"]
    next_observations: Float[np.ndarray, "step number"]
    terminated: Bool[np.ndarray, " step"]
    first: Bool[np.ndarray, " step"]
    """Whether the step began an episode."""

    def __len__(self) -> int:
        return len(self.options)

    def taking(self, index: Int[np.ndarray, " kept"] | slice) -> "Steps":
        """Some of the steps."""
        return Steps(*(getattr(self, item.name)[index] for item in fields(self)))


class SeenSteps:
    """Remembers the last `most_steps` steps, and what was observed as a row of numbers."""

    def __init__(self, most_steps: int, step_limit: int, *, truncation_ends_up_to: int = 0) -> None:
        """Nothing comes after a truncated episode either if it has at most so many steps."""
        self._most_steps, self._step_limit = most_steps, step_limit
        self._truncation_ends_up_to = truncation_ends_up_to
        self._columns: list[np.ndarray] = []
        self._count = 0
        self.longest = 0
        """Steps of the longest episode."""

    def __len__(self) -> int:
        return self._count

    @property
    def steps(self) -> Steps:
        """Everything remembered; there must be something."""
        return self.padded.taking(slice(self._count))

    @property
    def padded(self) -> Steps:
        """The same with zeros behind it, as many steps as can be remembered; nothing is copied."""
        return Steps(*self._columns[:-1])

    @property
    def padded_left(self) -> Int[np.ndarray, " step"]:
        """Steps of the same episode from each one on, itself included, with zeros behind them."""
        return self._columns[-1]

    def add(self, episodes: Episodes, options: Int[np.ndarray, "episode time"]) -> None:
        """Remember all steps of the real episodes, broken off or not.

        An end at the environment's limit of steps is no termination otherwise: what is observed
        does not tell of it, and whoever plans to a horizon knows of it anyway.
        """
        lengths = np.asarray(episodes.lengths)
        rows = np.flatnonzero(np.asarray(episodes.real_mask) & (lengths > 0))
        if len(rows) == 0 or episodes.last_observations is None:
            return
        lengths = lengths[rows]
        longest = int(lengths.max())
        valid = np.arange(longest) < lengths[:, None]
        seen = observed(episodes)[rows, :longest]
        after = np.empty_like(seen)
        after[:, :-1] = seen[:, 1:]
        ends = np.arange(len(rows)), lengths - 1
        last = flat(episodes.last_observations, 1)[rows]
        after[*ends, : last.shape[1]] = last
        after[*ends, last.shape[1] :] = 1.0  # what is allowed after the end is not recorded
        terminated, first = np.zeros(valid.shape, bool), np.zeros(valid.shape, bool)
        terminated[ends] = np.asarray(episodes.terminated)[rows] & (lengths < self._step_limit)
        terminated[ends] |= episodes.ended[rows] & (lengths <= self._truncation_ends_up_to)
        first[:, 0] = True
        rewards = np.asarray(episodes.rewards, np.float32)[rows, :longest]
        kept = options[rows, :longest].astype(np.int32)
        left = (lengths[:, None] - np.arange(longest)).astype(np.int32)
        columns = (seen, kept, rewards, after, terminated, first, left)
        self._append([column[valid] for column in columns])
        self.longest = max(self.longest, longest)

    def _append(self, columns: list[np.ndarray]) -> None:
        """Write steps behind the others; whoever holds those keeps what it has."""
        columns = [column[-self._most_steps :] for column in columns]
        kept = min(self._count, self._most_steps - len(columns[0]))
        if kept < self._count or not self._columns:
            old = [column[self._count - kept : self._count] for column in self._columns]
            self._columns = [
                aligned_zeros((self._most_steps, *column.shape[1:]), column.dtype)
                for column in columns
            ]
            for room, column in zip(self._columns, old, strict=bool(old)):
                room[:kept] = column
        self._count = kept + len(columns[0])
        for room, column in zip(self._columns, columns, strict=True):
            room[kept : self._count] = column

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything remembered, as named arrays."""
        arrays = {"longest": np.array(self.longest)}
        if self._columns:
            arrays |= {item.name: getattr(self.steps, item.name) for item in fields(Steps)}
        return arrays

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.longest = int(arrays["longest"])
        names = [item.name for item in fields(Steps)]
        self._columns, self._count = [], 0
        if names[0] in arrays:
            columns = [arrays[name] for name in names]
            self._append([*columns, steps_left(arrays["first"])])


def observed(episodes: Episodes) -> Float[np.ndarray, "episode time number"]:
    """The numbers of all observations, and behind them what is allowed where actions are masked."""
    seen = flat(episodes.observations, 2).astype(np.float32)
    if episodes.action_masks is None:
        return seen
    return np.concatenate([seen, np.asarray(episodes.action_masks, np.float32)], axis=-1)


def steps_left(first: Bool[np.ndarray, " step"]) -> Int[np.ndarray, " step"]:
    """Steps of the same episode from each one on, itself included.

    >>> steps_left(np.array([True, False, False, True, False])).tolist()
    [3, 2, 1, 2, 1]
    """
    begins = np.append(np.flatnonzero(first), len(first))
    index = np.arange(len(first))
    return (begins[np.searchsorted(begins, index, side="right")] - index).astype(np.int32)


def aligned_zeros(shape: tuple[int, ...], kind: np.dtype[Any]) -> np.ndarray:
    """Zeros that compiled programs read in place; JAX copies arrays that begin elsewhere."""
    num_bytes = prod(shape) * kind.itemsize
    room = np.zeros(num_bytes + _ALIGNMENT, np.uint8)
    begin = -room.ctypes.data % _ALIGNMENT
    return room[begin : begin + num_bytes].view(kind).reshape(shape)
