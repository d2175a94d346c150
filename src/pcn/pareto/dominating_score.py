"""Dominating score: which stored returns are worth keeping (paper, section 4.4)."""

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.pareto.crowding import crowding_in_order, stable_order
from pcn.pareto.dominance import non_dominated_mask, num_earlier_copies

CROWDED_BELOW = 0.2
"""Crowding distance up to which a point counts as crowded (paper, section 4.4)."""
DUPLICATE_PENALTY = 1e-5
"""The constant c of the dominating score (authors' code; the paper only calls it small)."""

_MOST_PAIRS_AT_ONCE = 1 << 17  # 1 MB of distances: they stay in the cache


def dominating_score(
    returns: Float[np.ndarray, "point objective"],
    *,
    crowded_below: float = CROWDED_BELOW,
    duplicate_penalty: float = DUPLICATE_PENALTY,
    front_mask: Bool[np.ndarray, " point"] | None = None,
    extents: Float[np.ndarray, " objective"] | None = None,
) -> Float[np.ndarray, " point"]:
    """Score each point by its distance to the front, doubled where points are crowded.

    The distance is that of the returns as given (Eq. 6), or measured in `extents`, a length for
    each objective; then the units of objectives do not matter. Crowding is measured on normalised
    returns. A crowded point of the front also pays the penalty, unlike in the public
    implementations.

    Copies: the crowding distance is measured among the distinct points, so a copy does not crowd
    its original, but the copy itself counts as crowded. It pays `duplicate_penalty` once for that
    and once more for every equal point stored before it. So of equal points the first always scores
    highest, the second next, and any copy of a front point scores below every distinct front point.

    `front_mask` marks the non-dominated points, if they are known already.

    >>> front_and_copy = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> dominating_score(front_and_copy)
    array([ 0.e+00,  0.e+00, -4.e-05, -1.e+00])
    """
    if front_mask is None:
        front_mask = non_dominated_mask(returns)
    columns = np.ascontiguousarray(returns.T)
    dominated_index, front_index = np.flatnonzero(~front_mask), np.flatnonzero(front_mask)
    distance = np.zeros(len(returns))
    _, squared = nearest(in_extents(columns, extents), dominated_index, front_index)
    distance[dominated_index] = np.sqrt(squared)
    copies = num_earlier_copies(returns)
    crowding = crowding_in_order(columns, among(stable_order(columns), copies == 0))
    return score(
        distance,
        crowding,
        copies,
        crowded_below=crowded_below,
        duplicate_penalty=duplicate_penalty,
    )


def score(
    distance: Float[np.ndarray, " point"],
    crowding: Float[np.ndarray, " point"],
    earlier_copies: Int[np.ndarray, " point"],
    *,
    crowded_below: float,
    duplicate_penalty: float,
) -> Float[np.ndarray, " point"]:
    """The dominating score from its parts; `dominating_score` says what copies pay."""
    closeness = 0.0 - distance  # I_l2, Eq. (6)
    penalty = duplicate_penalty * (1 + earlier_copies)
    crowded_mask = (crowding <= crowded_below) | (earlier_copies > 0)
    return np.where(crowded_mask, 2 * (closeness - penalty), closeness)  # I_ds, Eq. (7)


def in_extents(
    columns: Float[np.ndarray, "objective point"], extents: Float[np.ndarray, " objective"] | None
) -> Float[np.ndarray, "objective point"]:
    """Returns divided by a length for each objective; an objective without extent stays as it
    is."""
    return columns if extents is None else columns / np.where(extents > 0, extents, 1.0)[:, None]


def among(
    order: Int[np.ndarray, "objective point"], mask: Bool[np.ndarray, " point"]
) -> Int[np.ndarray, "objective masked"]:
    """The same order with only the points in `mask`."""
    return order if mask.all() else order[mask[order]].reshape(len(order), -1)


def nearest(
    columns: Float[np.ndarray, "objective point"],
    from_index: Int[np.ndarray, " a"],
    to_index: Int[np.ndarray, " b"],
) -> tuple[Int[np.ndarray, " a"], Float[np.ndarray, " a"]]:
    """For each point `from_index`, the nearest of `to_index`, and its squared distance.

    The squared differences are summed directly. Expanding the square would be faster for large
    fronts but loses the digits that distinguish near neighbours.
    """
    from_columns, to_columns = columns.take(from_index, axis=1), columns.take(to_index, axis=1)
    found, squared = np.empty_like(from_index), np.empty(len(from_index))
    size = max(1, _MOST_PAIRS_AT_ONCE // max(1, len(to_index)))
    for start in range(0, len(from_index), size):
        rows = slice(start, start + size)
        total = from_columns[0, rows, None] - to_columns[0]
        total *= total
        for from_values, to_values in zip(from_columns[1:], to_columns[1:], strict=True):
            difference = from_values[rows, None] - to_values
            difference *= difference
            total += difference
        found[rows] = to_index[total.argmin(axis=1)]
        squared[rows] = total.min(axis=1)
    return found, squared
