"""Crowding distance: how far apart a point's neighbours are (paper, Algorithm 1)."""

import numpy as np
from jaxtyping import Float, Int


def crowding_distance(
    returns: Float[np.ndarray, "point objective"], *, normalise: bool = True
) -> Float[np.ndarray, " point"]:
    """Sum over objectives of the distance between a point's upper and lower neighbour.

    By default every objective is first scaled to [0, 1], as in the authors' code: the paper's
    threshold of 0.2 only has a meaning on that scale. `normalise=False` gives the distances of
    Algorithm 1 as printed. The first and the last point of an objective lack a neighbour; they get
    the objective's whole range (1 when normalised), so that extrema are never crowded. Points that
    tie in an objective are neighbours in the order they are stored. An objective in which all
    points agree adds nothing, except that a lone point is an extremum: 1 for each objective.

    >>> front = np.array([[0.0, 4.0], [1.0, 3.0], [2.0, 2.0], [4.0, 0.0]])
    >>> crowding_distance(front)
    array([2. , 1. , 1.5, 2. ])
    >>> crowding_distance(front, normalise=False)
    array([8., 4., 6., 8.])
    """
    return crowding_in_order(returns.T, stable_order(returns.T), normalise=normalise)


def stable_order(
    columns: Float[np.ndarray, "objective point"],
) -> Int[np.ndarray, "objective point"]:
    """The points in ascending order of each objective; ties in the order they are stored."""
    return np.argsort(columns, axis=1, kind="stable")


def crowding_in_order(
    columns: Float[np.ndarray, "objective point"],
    order: Int[np.ndarray, "objective ordered"],
    *,
    normalise: bool = True,
) -> Float[np.ndarray, " point"]:
    """Crowding distance of points whose `stable_order` is known.

    If an `order` leaves points out, the others are measured as if those did not exist; the points
    left out get zero.
    """
    distance = np.zeros(columns.shape[1])
    if order.shape[1] == 1 and normalise:
        distance[order[0]] = len(columns)
    if order.shape[1] <= 1:
        return distance
    ascending = columns[np.arange(len(columns))[:, None], order]
    extent = ascending[:, -1:] - ascending[:, :1]
    gaps = np.empty_like(ascending)
    np.subtract(ascending[:, 2:], ascending[:, :-2], out=gaps[:, 1:-1])
    gaps[:, :1] = gaps[:, -1:] = extent
    if normalise:
        gaps /= np.where(extent > 0, extent, 1.0)
    for index, gap in zip(order, gaps, strict=True):
        distance[index] += gap
    return distance
