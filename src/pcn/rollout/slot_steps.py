"""The latest steps of all slots, on their way to the recorder."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Num, PyTree

from pcn.rollout.recorder import Recorder

STEPS_AT_ONCE = 64
"""Steps that are written together: a write takes almost as long for one step as for many."""


class SlotSteps:
    """One row of arrays for each of the latest steps; `row` is the step under way.

    What is seen before a step stands in its row, and what is seen after it in the next one. A row
    is never used again, because agents may keep the arrays that they are given.
    """

    def __init__(
        self,
        recorder: Recorder,
        observations: PyTree[np.ndarray],
        masks: Bool[np.ndarray, "slot choice"] | None,
        actions: Num[np.ndarray, "slot part"],
        rewards: Float[np.ndarray, "slot objective"],
    ) -> None:
        """The arrays show shapes and types; `masks` is None where there are none."""
        self._recorder = recorder
        leaves, self._tree = jax.tree.flatten(observations)
        self._one_array = isinstance(observations, np.ndarray)
        self._num_leaves = len(leaves)
        seen = leaves if masks is None else [*leaves, masks]
        self._like = ([actions, rewards], seen)
        self._playing: dict[int, tuple[int, int, int]] = {}
        # slot -> its episode, how many steps of it are recorded, and the row of the next one
        self.row = 0
        self._make_room(seen)

    def _make_room(self, first: list[np.ndarray]) -> None:
        """Fresh arrays, in whose first row `first` is seen."""
        done, seen = self._like
        self.actions, self.rewards = (
            np.zeros((STEPS_AT_ONCE, *array.shape), array.dtype) for array in done
        )
        self._seen = [np.zeros((STEPS_AT_ONCE + 1, *array.shape), array.dtype) for array in seen]
        for array, row in zip(self._seen, first, strict=True):
            array[0] = row

    @property
    def observations(self) -> PyTree[np.ndarray]:
        """What all slots see before the step."""
        if self._one_array:
            return self._seen[0][self.row]
        leaves = [array[self.row] for array in self._seen[: self._num_leaves]]
        return jax.tree.unflatten(self._tree, leaves)

    @property
    def masks(self) -> Bool[np.ndarray, "slot choice"] | None:
        """Which choices all slots have in the step."""
        return self._seen[-1][self.row] if len(self._seen) > self._num_leaves else None

    def begin(self, slot: int, episode: int) -> None:
        """An episode begins in a slot, with the step under way."""
        self._playing[slot] = episode, 0, self.row

    def show(self, slot: int, observation: Any, mask: Any, *, later: int = 0) -> None:
        """Note what a slot sees before the step, or `later` steps after it."""
        row = self.row + later
        if self._one_array:
            self._seen[0][row, slot] = observation
        else:
            parts = jax.tree.leaves(observation)
            for array, part in zip(self._seen[: self._num_leaves], parts, strict=True):
                array[row, slot] = part
        if mask is not None:
            self._seen[-1][row, slot] = mask

    def end(self, slot: int, *, terminated: bool, truncated: bool) -> None:
        """The episode in a slot ends with the step under way."""
        episode, length = self._write(slot, self.row + 1)
        last = [array[self.row + 1, slot] for array in self._seen[: self._num_leaves]]
        self._recorder.end(episode, length, last, terminated=terminated, truncated=truncated)
        del self._playing[slot]

    def advance(self) -> None:
        """Go to the next step."""
        self.row += 1
        if self.row == STEPS_AT_ONCE:
            for slot in self._playing:
                self._playing[slot] = (*self._write(slot, self.row), 0)
            self._make_room([array[-1] for array in self._seen])
            self.row = 0

    def _write(self, slot: int, end: int) -> tuple[int, int]:
        """Record a slot's steps up to a row; returns its episode, and how many are recorded."""
        episode, before, first = self._playing[slot]
        actions, rewards, *seen = (
            array[first:end, slot] for array in (self.actions, self.rewards, *self._seen)
        )
        self._recorder.write(episode, before, actions, rewards, seen)
        return episode, before + end - first
