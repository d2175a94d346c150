"""Which labels of a search are no better than others of the same state."""

import numpy as np
from jaxtyping import Bool, Float, Int

NOTHING = 1e-9
"""Differences that rounding can make, in units of the spread of returns."""


class SeenLabels:
    """A few values for each state that was reached, to compare later ones with."""

    def __init__(self, num_values: int, labels_per_state: int) -> None:
        self._states = np.zeros(0, np.int64)
        self._values = np.zeros((0, labels_per_state, num_values))

    def dominated(
        self, states: Int[np.ndarray, " label"], values: Float[np.ndarray, "label value"]
    ) -> Bool[np.ndarray, " label"]:
        """Which labels are no better than one that their state has."""
        dominated = np.zeros(len(states), dtype=bool)
        if len(self._states):
            place = np.minimum(np.searchsorted(self._states, states), len(self._states) - 1)
            index = np.flatnonzero(self._states[place] == states)
            at_least = self._values[place[index]] >= values[index, None] - NOTHING
            dominated[index] = np.any(np.all(at_least, axis=2), axis=1)
        return dominated

    def add(
        self, states: Int[np.ndarray, " label"], values: Float[np.ndarray, "label value"]
    ) -> None:
        """Remember labels; a state that has too many forgets the one with the smallest sum."""
        new = np.unique(states)
        if len(self._states):
            place = np.minimum(np.searchsorted(self._states, new), len(self._states) - 1)
            new = new[self._states[place] != new]
        place = np.searchsorted(self._states, new)
        self._states = np.insert(self._states, place, new)
        self._values = np.insert(self._values, place, -np.inf, axis=0)
        row = np.searchsorted(self._states, states)
        order = np.argsort(row, kind="stable")
        rank = rank_among_equals(row[order])
        for number in range(int(rank.max(initial=-1)) + 1):
            index = order[rank == number]
            place = self._values[row[index]].sum(axis=2).argmin(axis=1)
            self._values[row[index], place] = values[index]


def rank_among_equals(ordered: Int[np.ndarray, " label"]) -> Int[np.ndarray, " label"]:
    """How many equal entries come before each entry of an ordered array."""
    position = np.arange(len(ordered))
    is_first = np.ones(len(ordered), dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return position - np.maximum.accumulate(np.where(is_first, position, 0))


def dominated_neighbours(
    states: Int[np.ndarray, " label"], values: Float[np.ndarray, "label value"]
) -> Bool[np.ndarray, " label"]:
    """Which labels one of the few before them, of the same state, equals or dominates.

    Labels of a state stand together, the earliest first.
    """
    dominated = np.zeros(len(states), dtype=bool)
    for shift in range(1, min(9, len(states))):
        same = states[shift:] == states[:-shift]
        at_least = np.all(values[:-shift] >= values[shift:] - NOTHING, axis=1)
        dominated[shift:] |= same & at_least
    return dominated
