"""Compromises on a front: its knee, and the point with the best weakest objective."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

LEAST_RATIO = 1.0 + 1e-9
"""The smallest ratio of loss to gain at a knee; below it, moving away is an even exchange."""


class Knee(NamedTuple):
    """A point that is costly to leave: every other point gives up more than it gains."""

    point: int
    ratio: float
    """Each move to another point gives up at least this many times what it gains."""


class Balanced(NamedTuple):
    """The point whose weakest objective is better than that of any other point."""

    point: int
    weakest: int
    """The objective in which it is weakest."""
    share: float
    """The share of that objective's range that it reaches."""


def shares(
    front: Float[np.ndarray, "point objective"],
) -> Float[np.ndarray, "point objective"]:
    """Each objective as a share of its range: 0 is the nadir, 1 the ideal.

    An objective in which all points are equal is 1 for all of them.

    >>> shares(np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 5.0]])).tolist()
    [[0.0, 1.0], [0.25, 1.0], [1.0, 1.0]]
    """
    reached = (front - front.min(axis=0)) / unit_ranges(front)
    return np.where(np.ptp(front, axis=0) > 0, reached, 1.0)


def knee(front: Float[np.ndarray, "point objective"]) -> Knee | None:
    """The knee of a front; None if moving along the front is an even exchange or better.

    The gain of a move is the sum of its improvements, its loss the sum of its deteriorations, all
    as shares of the objectives' ranges. From a knee, every move loses more than it gains
    (Rachmawati and Srinivasan, doi:10.1109/TEVC.2009.2017515). This holds only for the point with
    the largest sum of shares. In two objectives it is the point farthest above the line through the
    extremes (Das, doi:10.1007/BF01195985). A concave front has no knee.

    >>> knee(np.array([[0.0, 4.0], [3.0, 3.0], [4.0, 0.0]]))
    Knee(point=1, ratio=3.0)
    >>> knee(np.array([[0.0, 4.0], [1.0, 1.0], [4.0, 0.0]])) is None
    True
    """
    if len(front) == 0:
        return None
    scaled = shares(front)
    index = int(scaled.sum(axis=1).argmax())
    change = scaled - scaled[index]
    gain, loss = np.maximum(change, 0).sum(axis=1), np.maximum(-change, 0).sum(axis=1)
    moves = gain > 0
    if not moves.any():
        return None
    ratio = float(np.min(loss[moves] / gain[moves]))
    return Knee(index, ratio) if ratio > LEAST_RATIO else None


def balanced(front: Float[np.ndarray, "point objective"]) -> Balanced | None:
    """The point with the largest smallest share; of several, the one with the largest sum.

    None if every point is the worst in some objective.

    >>> balanced(np.array([[0.0, 4.0], [1.0, 3.0], [2.0, 2.5], [4.0, 0.0]]))
    Balanced(point=2, weakest=0, share=0.5)
    """
    if len(front) == 0:
        return None
    scaled = shares(front)
    lowest = scaled.min(axis=1)
    index = int(np.lexsort((-scaled.sum(axis=1), -lowest))[0])
    if lowest[index] <= 0 or not np.ptp(front, axis=0).any():
        return None
    return Balanced(index, int(scaled[index].argmin()), float(lowest[index]))


def nearest_point(
    point: Float[np.ndarray, " objective"], front: Float[np.ndarray, "point objective"]
) -> tuple[int, float]:
    """The point of a front that is nearest to another one, and how far away it is.

    The distance is the largest difference in any objective, in units of the front's range.

    >>> nearest_point(np.array([3.0, 1.0]), np.array([[0.0, 4.0], [4.0, 0.0]]))
    (1, 0.25)
    """
    distances = np.abs((front - point) / unit_ranges(front)).max(axis=1)
    index = int(distances.argmin())
    return index, float(distances[index])


def unit_ranges(
    front: Float[np.ndarray, "point objective"],
) -> Float[np.ndarray, " objective"]:
    """The range of each objective; 1 where all points are equal, so that it can be a divisor.

    >>> unit_ranges(np.array([[0.0, 5.0], [4.0, 5.0]])).tolist()
    [4.0, 1.0]
    """
    extent = np.ptp(front, axis=0)
    return np.where(extent > 0, extent, 1.0)
