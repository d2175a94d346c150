"""Pareto dominance between return vectors, and counts of dominating points."""

from collections.abc import Callable

import moocore
import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.pareto.spread import Tolerances

Criteria = Callable[[Float[np.ndarray, "point objective"]], Float[np.ndarray, "point objective"]]
"""A function whose results are compared instead of the returns themselves; see `orders/`."""

_MOST_PAIRS_AT_ONCE = 1 << 18  # 256 kB of comparisons: they stay in the cache
_ROUNDED_UP_FROM = (np.sqrt(5.0) - 1) / 2
"""The fraction of a multiple that is rounded up to it. It is irrational, so that returns do not lie
exactly between two multiples, where noise would decide the direction."""


def dominates(a: Float[np.ndarray, " objective"], b: Float[np.ndarray, " objective"]) -> bool:
    """Whether `a` is at least as good as `b` in every objective and better in at least one.

    >>> dominates(np.array([2.0, 1.0]), np.array([1.0, 1.0]))
    True
    >>> dominates(np.array([1.0, 1.0]), np.array([1.0, 1.0]))
    False
    """
    return bool(np.all(a >= b) and np.any(a > b))  # Eq. (2)


def non_dominated_mask(
    returns: Float[np.ndarray, "point objective"],
) -> Bool[np.ndarray, " point"]:
    """Mark the points that no other point dominates.

    Equal points do not dominate each other: both are kept.

    >>> non_dominated_mask(np.array([[1.0, 3.0], [2.0, 2.0], [1.0, 2.0], [2.0, 2.0]]))
    array([ True,  True, False,  True])
    """
    mask = moocore.is_nondominated(returns, maximise=True, keep_weakly=True)  # Eq. (3)
    return np.asarray(mask, dtype=bool)


def num_earlier_copies(
    returns: Float[np.ndarray, "point objective"],
) -> Int[np.ndarray, " point"]:
    """Count, for each point, the equal points that come before it; zero marks the original.

    >>> num_earlier_copies(np.array([[1.0, 3.0], [2.0, 2.0], [1.0, 3.0], [1.0, 3.0]]))
    array([0, 0, 1, 2])
    """
    order, is_first = _lexicographic(returns)
    position = np.arange(len(returns))
    copies = np.empty_like(position)
    copies[order] = position - np.maximum.accumulate(np.where(is_first, position, 0))
    return copies


def unique_front(returns: Float[np.ndarray, "point objective"]) -> Int[np.ndarray, " front"]:
    """Indices of the distinct non-dominated points, ordered by return vector (first objective
    first).

    Of equal points the first one is returned.

    >>> unique_front(np.array([[2.0, 2.0], [1.0, 3.0], [2.0, 2.0], [1.0, 2.0]]))
    array([1, 0])
    """
    front_index = np.flatnonzero(non_dominated_mask(returns))
    order, is_first = _lexicographic(returns[front_index])
    unique_index: Int[np.ndarray, " front"] = front_index[order[is_first]]
    return unique_index


def covered_mask(
    returns: Float[np.ndarray, "point objective"],
    front: Float[np.ndarray, "known objective"],
    *,
    tolerances: Tolerances = 0.0,
) -> Bool[np.ndarray, " point"]:
    """Mark the points that some point of `front` equals or dominates.

    >>> covered_mask(np.array([[1.0, 2.0], [0.0, 4.0]]), np.array([[1.0, 3.0]]))
    array([ True, False])
    """
    return np.all(front[None] >= returns[:, None] - tolerances, axis=2).any(axis=1)


def rounded(
    returns: Float[np.ndarray, "point objective"], tolerances: Tolerances
) -> Float[np.ndarray, "point objective"]:
    """Round to multiples of the tolerances, so that float32 noise does not decide dominance.

    An objective whose tolerance is zero stays as it is.

    >>> rounded(np.array([[1.04, 7.06]]), np.array([0.5, 0.0]))
    array([[1.  , 7.06]])
    """
    if np.any(np.asarray(tolerances) < 0):
        raise ValueError(f"tolerances must not be negative, got {tolerances}")
    unit = np.where(np.asarray(tolerances) > 0, tolerances, 1.0)
    return np.where(
        np.asarray(tolerances) > 0, np.floor(returns / unit + _ROUNDED_UP_FROM) * unit, returns
    )


def _lexicographic(
    returns: Float[np.ndarray, "point objective"],
) -> tuple[Int[np.ndarray, " point"], Bool[np.ndarray, " point"]]:
    """A stable sort of the points, and a mask of those that differ from the one before."""
    order = np.lexsort(returns.T[::-1])
    is_first = np.ones(len(returns), dtype=bool)
    is_first[1:] = np.any(returns[order[1:]] != returns[order[:-1]], axis=1)
    return order, is_first


class DominanceCounts:
    """For each stored point, the number of other stored points that dominate it.

    Adding or removing k of N points costs k x N comparisons. Points keep their order: `add`
    appends, `keep` closes the gaps. With `tolerances`, the stored points are the `rounded` ones;
    callers that need the exact returns keep them. With `criteria`, a point dominates another one if
    the criteria of its exact return do; copies are still equal points.

    >>> counts = DominanceCounts(num_objectives=2)
    >>> counts.add(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]))
    >>> counts.num_dominating
    array([2, 1, 0])
    >>> counts.keep(np.array([True, True, False]))
    >>> counts.num_dominating
    array([1, 0])
    """

    num_dominating: Int[np.ndarray, " point"]
    """How many stored points dominate each."""
    num_earlier_copies: Int[np.ndarray, " point"]
    """How many points equal to each were stored before it."""
    columns: Float[np.ndarray, "objective point"]
    """The stored returns, one row per objective: comparisons run along the points."""
    compared: Float[np.ndarray, "objective point"]
    """Their criteria in the same form; the same array where returns themselves are compared."""

    def __init__(
        self,
        num_objectives: int,
        *,
        tolerances: Tolerances = 0.0,
        criteria: Criteria | None = None,
    ) -> None:
        if num_objectives < 1:
            raise ValueError(f"num_objectives must be at least 1, got {num_objectives}")
        self.tolerances = tolerances
        self.criteria = criteria
        self.num_dominating = np.zeros(0, dtype=np.int64)
        self.num_earlier_copies = np.zeros(0, dtype=np.int64)
        self.columns = self.compared = np.zeros((num_objectives, 0))

    def __len__(self) -> int:
        return len(self.num_dominating)

    @property
    def returns(self) -> Float[np.ndarray, "point objective"]:
        """The stored (rounded) returns, oldest first."""
        return self.columns.T

    @property
    def non_dominated_mask(self) -> Bool[np.ndarray, " point"]:
        """Mark the points that no other stored point dominates."""
        mask: Bool[np.ndarray, " point"] = self.num_dominating == 0
        return mask

    def add(self, returns: Float[np.ndarray, "new objective"]) -> None:
        """Store more points after those already there."""
        num_objectives, num_old = self.columns.shape
        if returns.shape[1] != num_objectives:
            raise ValueError(
                f"returns have {returns.shape[1]} objectives, expected {num_objectives}"
            )
        if not np.isfinite(returns).all():
            raise ValueError("returns must be finite: NaN compares with nothing")
        new = compared = np.ascontiguousarray(rounded(returns, self.tolerances).T)
        nothing = np.zeros(len(returns), dtype=np.int64)
        self.columns = np.concatenate([self.columns, new], axis=1)
        if self.criteria is None:
            self.compared = self.columns
        else:
            compared = np.ascontiguousarray(self.criteria(returns).T)
            self.compared = np.concatenate([self.compared, compared], axis=1)
        self.num_dominating = np.concatenate([self.num_dominating, nothing])
        self.num_earlier_copies = np.concatenate([self.num_earlier_copies, nothing])
        index = np.arange(len(self))
        for rows in _chunks(len(returns), len(self)):
            at_least, at_most = _compare(compared[:, rows], self.compared)
            self.num_dominating += (at_least > at_most).sum(axis=0)
            # Pairs of two new points were counted above.
            dominated_by_old = (at_most > at_least)[:, :num_old]
            self.num_dominating[num_old:][rows] += dominated_by_old.sum(axis=1)
            if self.criteria is not None:
                at_least, at_most = _compare(new[:, rows], self.columns)
            equal_earlier = at_least & at_most & (index < index[num_old:][rows, None])
            self.num_earlier_copies[num_old:][rows] = equal_earlier.sum(axis=1)

    def keep(self, mask: Bool[np.ndarray, " point"]) -> None:
        """Drop the points outside `mask`."""
        kept_index, dropped_index = mask.nonzero()[0], (~mask).nonzero()[0]
        kept = self.columns.take(kept_index, axis=1)
        dropped = self.columns.take(dropped_index, axis=1)
        kept_compared, dropped_compared = kept, dropped
        if self.criteria is not None:
            kept_compared = self.compared.take(kept_index, axis=1)
            dropped_compared = self.compared.take(dropped_index, axis=1)
        # `take`, unlike an index, leaves each objective contiguous
        self.columns, self.compared = kept, kept_compared
        self.num_dominating = self.num_dominating[kept_index]
        self.num_earlier_copies = self.num_earlier_copies[kept_index]
        for rows in _chunks(len(dropped_index), len(kept_index)):
            at_least, at_most = _compare(dropped_compared[:, rows], kept_compared)
            self.num_dominating -= (at_least > at_most).sum(axis=0)
            if self.criteria is not None:
                at_least, at_most = _compare(dropped[:, rows], kept)
            equal_earlier = at_least & at_most & (dropped_index[rows, None] < kept_index)
            self.num_earlier_copies -= equal_earlier.sum(axis=0)


def _chunks(num_rows: int, num_columns: int) -> list[slice]:
    """Slices of the rows, so that no rows x columns array gets large."""
    size = max(1, _MOST_PAIRS_AT_ONCE // max(1, num_columns))
    return [slice(start, min(start + size, num_rows)) for start in range(0, num_rows, size)]


def _compare(
    a: Float[np.ndarray, "objective a"], b: Float[np.ndarray, "objective b"]
) -> tuple[Bool[np.ndarray, "a b"], Bool[np.ndarray, "a b"]]:
    """Pairwise: is point a at least as good as point b in every objective; at most as good?"""
    at_least, at_most = a[0][:, None] >= b[0], a[0][:, None] <= b[0]
    for a_values, b_values in zip(a[1:], b[1:], strict=True):
        at_least &= a_values[:, None] >= b_values
        at_most &= a_values[:, None] <= b_values
    return at_least, at_most
