"""Sets of vectors of expected returns: non-dominated ones, a few of many, weighted sums."""

from collections.abc import Sequence
from dataclasses import dataclass

import moocore
import numpy as np
from jaxtyping import Float, Int

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


def spread_out(
    vectors: Float[np.ndarray, "vector objective"], count: int
) -> Int[np.ndarray, " kept"]:
    """Index `count` vectors that stand for all: the extremes, the best sum, the farthest ones.

    Every objective is scaled to [0, 1]. After the best vector of each objective and the one with
    the largest sum, the vector that is farthest from those chosen comes next, again and again.

    >>> spread_out(np.array([[0.0, 4.0], [1.0, 3.5], [2.0, 3.0], [4.0, 0.0]]), 3)
    array([3, 0, 2])
    """
    lowest, highest = vectors.min(axis=0), vectors.max(axis=0)
    scaled = (vectors - lowest) / np.where(highest > lowest, highest - lowest, 1.0)
    # Ties of an extreme are decided by the sum: the best corner of a face, not just any.
    total = scaled.sum(axis=1)
    extremes = [int(np.lexsort((total, column))[-1]) for column in scaled.T]
    chosen = list(dict.fromkeys([*extremes, int(total.argmax())]))[:count]
    squares = np.einsum("vo,vo->v", scaled, scaled)
    # Squared distance without the vector's own square: |a - b|^2 = |a|^2 + |b|^2 - 2 a b.
    distance = np.full(len(vectors), np.inf)
    for index in chosen:
        np.minimum(distance, squares[index] - 2 * (scaled @ scaled[index]), out=distance)
    while len(chosen) < count:
        index = int((distance + squares).argmax())
        chosen.append(index)
        np.minimum(distance, squares[index] - 2 * (scaled @ scaled[index]), out=distance)
    return np.array(chosen)


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
