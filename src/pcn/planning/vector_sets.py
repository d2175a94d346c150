"""Sets of vectors of expected returns: non-dominated ones, a few of many, weighted sums."""

from collections.abc import Sequence
from dataclasses import dataclass

import moocore
import numpy as np
from jaxtyping import Float, Int

from pcn.pareto import spread_out

_LOOSELY = 4


@dataclass(frozen=True)
class VectorSet:
    """Vectors that can be reached, how long that takes, and by which choice each is reached."""

    vectors: Float[np.ndarray, "vector objective"]
    steps: Float[np.ndarray, " vector"]
    """Expected number of steps; of equal vectors the one with the fewest steps is kept."""
    choices: Int[np.ndarray, "vector choice"]

    def __len__(self) -> int:
        return len(self.vectors)

    def taking(self, index: Int[np.ndarray, " kept"]) -> "VectorSet":
        """The vectors at `index`."""
        return VectorSet(self.vectors[index], self.steps[index], self.choices[index])


@dataclass(frozen=True)
class Pruning:
    """Which vectors of a set are kept."""

    tolerances: Float[np.ndarray, " objective"]
    """Vectors are rounded to multiples of these before they are compared."""
    most: int | None = None
    """How many vectors a set may have; None for any number."""

    @property
    def loosely(self) -> "Pruning":
        """The same for sums that will be pruned again: they may have a few times as many."""
        return Pruning(self.tolerances, None if self.most is None else _LOOSELY * self.most)

    def keys(
        self, vectors: Float[np.ndarray, "vector objective"]
    ) -> Float[np.ndarray, "vector objective"]:
        """The vectors, rounded: whole numbers of tolerances, never minus zero."""
        return np.round(vectors / self.tolerances) + 0.0

    def __call__(self, given: VectorSet) -> VectorSet:
        """The non-dominated vectors in lexicographic order, each once, thinned out if too many."""
        if len(given) == 1:
            return given
        keys = self.keys(given.vectors)
        fewest_first = np.argsort(given.steps, kind="stable")
        keys = keys[fewest_first]
        mask = moocore.is_nondominated(keys, maximise=True, keep_weakly=False)
        index, keys = fewest_first[mask], keys[mask]
        if self.most is not None and len(index) > self.most:
            chosen = spread_out(given.vectors[index], self.most)
            index, keys = index[chosen], keys[chosen]
        return given.taking(index[np.lexsort(keys.T[::-1])])


def weighted_sum(
    sets: Sequence[VectorSet], weights: Float[np.ndarray, " set"], pruning: Pruning
) -> VectorSet:
    """All weighted sums of one vector from each set (a Minkowski sum), pruned while summing.

    The choices of the result are the vector taken from each set.
    """
    first = np.arange(len(sets[0]))[:, None]
    total = VectorSet(weights[0] * sets[0].vectors, weights[0] * sets[0].steps, first)
    for one, weight in zip(sets[1:], weights[1:], strict=True):
        here, there = len(total), len(one)
        vectors = total.vectors[:, None] + weight * one.vectors
        steps = total.steps[:, None] + weight * one.steps
        choices = np.column_stack(
            [np.repeat(total.choices, there, axis=0), np.tile(np.arange(there), here)]
        )
        total = pruning(VectorSet(vectors.reshape(here * there, -1), steps.ravel(), choices))
    return total
