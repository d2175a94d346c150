"""The best known ways to places, or from them: chains of non-dominated vectors."""

from collections.abc import Iterator, Mapping

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.pareto import Tolerances

NONE = -1
"""No place, no way, no episode."""


class Ways:
    """For each place, ways that no other way there covers.

    A way has a vector (what it returns), an episode and a step: the way to a place is what the
    episode did before that step, the way from it is what it did from there on.
    """

    def __init__(self, num_objectives: int) -> None:
        self._num_ways = 0
        self._num_places = 0
        self._first = np.zeros(0, np.int64)  # by place
        self._next = np.zeros(0, np.int64)
        self._vectors = np.zeros((0, num_objectives))
        self._sources = np.zeros((0, 2), np.int64)  # episode and step

    def __len__(self) -> int:
        return self._num_ways

    @property
    def vectors(self) -> Float[np.ndarray, "way objective"]:
        """What each way returns; minus infinity for those that better ones have replaced."""
        return self._vectors[: self._num_ways]

    @property
    def sources(self) -> Int[np.ndarray, "way 2"]:
        """The episode and the step of each way."""
        return self._sources[: self._num_ways]

    def open_place(self) -> None:
        """There is one more place, with no way yet."""
        if self._num_places == len(self._first):
            self._first = np.append(self._first, np.full(max(1024, self._num_places), NONE))
        self._num_places += 1

    def covered_mask(
        self,
        places: Int[np.ndarray, " candidate"],
        vectors: Float[np.ndarray, "candidate objective"],
        tolerances: Tolerances,
        *,
        by: int = 1,
    ) -> Bool[np.ndarray, " candidate"]:
        """Mark the vectors that `by` known ways of their place equal or dominate."""
        missing = np.full(len(places), by)
        wanted = vectors - tolerances
        open_ = np.arange(len(places))
        ways = self._first[places]
        while len(open_):
            known = ways != NONE
            open_, ways = open_[known], ways[known]
            missing[open_] -= np.all(self._vectors[ways] >= wanted[open_], axis=1)
            left = missing[open_] > 0
            open_, ways = open_[left], self._next[ways[left]]
        return missing <= 0

    def dominated_mask(
        self,
        places: Int[np.ndarray, " candidate"],
        vectors: Float[np.ndarray, "candidate objective"],
        tolerances: Tolerances,
    ) -> Bool[np.ndarray, " candidate"]:
        """Mark the vectors that a known way of their place dominates; equal ones are not marked."""
        dominated = np.zeros(len(places), dtype=bool)
        open_ = np.arange(len(places))
        ways = self._first[places]
        while len(open_):
            known = ways != NONE
            open_, ways = open_[known], ways[known]
            off = self._vectors[ways] - vectors[open_]
            better = np.all(off >= -tolerances, axis=1) & np.any(off > tolerances, axis=1)
            dominated[open_[better]] = True
            open_, ways = open_[~better], self._next[ways[~better]]
        return dominated

    def at(self, place: int) -> list[int]:
        """The numbers of the ways of a place."""
        ways, way = [], int(self._first[place])
        while way != NONE:
            if self._sources[way, 0] != NONE:
                ways.append(way)
            way = int(self._next[way])
        return ways

    def layers(self) -> Iterator[tuple[Int[np.ndarray, " way"], Int[np.ndarray, " way"]]]:
        """Places and a way of each: one way of every place, then a second one, and so on."""
        places = np.arange(self._num_places)
        ways = self._first[: self._num_places]
        while len(places):
            known = ways != NONE
            places, ways = places[known], ways[known]
            used = self._sources[ways, 0] != NONE
            yield places[used], ways[used]
            ways = self._next[ways]

    def add(
        self,
        place: int,
        vector: Float[np.ndarray, " objective"],
        source: tuple[int, int],
        tolerances: Tolerances,
        *,
        most_equal: int = 1,
    ) -> None:
        """Note a way that no known one dominates; it replaces those that it dominates.

        Beyond `most_equal` ways that are as good, it replaces the oldest of them.
        """
        way, unused, equal = int(self._first[place]), NONE, list[int]()
        while way != NONE:
            if np.all(self._vectors[way] <= vector + tolerances):
                if np.all(self._vectors[way] >= vector - tolerances):
                    equal.append(way)
                else:
                    self._vectors[way] = -np.inf
                    self._sources[way] = NONE
                    unused = way
            way = int(self._next[way])
        if len(equal) >= most_equal:
            unused = min(equal, key=lambda one: int(self._sources[one, 0]))
        if unused == NONE:
            unused = self._new_way(place)
        self._vectors[unused] = vector
        self._sources[unused] = source

    def _new_way(self, place: int) -> int:
        if self._num_ways == len(self._next):
            size = max(1024, self._num_ways)
            self._next = np.append(self._next, np.full(size, NONE))
            room = np.full((size, self._vectors.shape[1]), -np.inf)
            self._vectors = np.concatenate([self._vectors, room])
            self._sources = np.concatenate([self._sources, np.full((size, 2), NONE)])
        way, self._num_ways = self._num_ways, self._num_ways + 1
        self._next[way] = self._first[place]
        self._first[place] = way
        return way

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All ways, as named arrays for a checkpoint."""
        return {
            "first": self._first[: self._num_places],
            "next": self._next[: self._num_ways],
            "vectors": self.vectors,
            "sources": self.sources,
        }

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self._first = np.array(arrays["first"])
        self._num_places = len(self._first)
        self._num_ways = len(arrays["next"])
        self._next = np.array(arrays["next"])
        self._vectors = np.array(arrays["vectors"])
        self._sources = np.array(arrays["sources"])
