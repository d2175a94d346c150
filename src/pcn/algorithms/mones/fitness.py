"""How much a draw adds to the front of its pool: the fitness that MONES raises."""

from typing import Literal

import moocore
import numpy as np
from jaxtyping import Float, Int

from pcn.pareto import crowding_distance, non_dominated_mask

Fitness = Literal["auto", "hypervolume", "crowding"]
MOST_OBJECTIVES = 5
"""Hypervolume contributions of more objectives take seconds per generation."""


def fitness(
    returns: Float[np.ndarray, "draw objective"],
    reference_point: Float[np.ndarray, " objective"],
    kind: Fitness,
) -> Float[np.ndarray, " draw"]:
    """The fitness of each draw of a pool; they add up to one.

    A draw of a better non-dominated rank comes first. On the front, returns that contribute
    more to the hypervolume do, or returns that are less crowded; equal returns share what they
    are worth, so that a distribution gains by reaching what it rarely reaches. Where the
    hypervolume judges, returns that are not better than the reference point in every objective
    come last: they add nothing, however cheap they are.
    """
    ranks = non_dominated_ranks(returns)
    merit = np.zeros(len(returns))
    by_volume = kind == "hypervolume" or (kind == "auto" and returns.shape[1] <= MOST_OBJECTIVES)
    if by_volume:
        worthless = ~np.all(returns > reference_point, axis=1)
        ranks = np.where(worthless, ranks + ranks.max() + 1, ranks)
    for rank in np.unique(ranks):
        peers = np.flatnonzero(ranks == rank)
        distinct, copy_of, copies = np.unique(
            returns[peers], axis=0, return_inverse=True, return_counts=True
        )
        if by_volume and rank == 0:
            worth = _places(hypervolume_contributions(distinct, reference_point))
        else:
            worth = crowding_distance(distinct)
        merit[peers] = (worth / copies)[copy_of.ravel()]
    return utilities(ranks, merit)


def hypervolume_contributions(
    returns: Float[np.ndarray, "point objective"],
    reference_point: Float[np.ndarray, " objective"],
) -> Float[np.ndarray, " point"]:
    """What the hypervolume would lose without each return.

    Returns that are not better than the reference point in every objective contribute nothing,
    and neither do dominated ones or copies.

    >>> hypervolume_contributions(np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 0.0]]), np.zeros(2))
    array([1., 2., 0.])
    """
    contributions = np.zeros(len(returns))
    above = np.all(returns > reference_point, axis=1)
    if above.any():
        contributions[above] = moocore.hv_contributions(
            returns[above], ref=reference_point, maximise=True
        )
    return contributions


def non_dominated_ranks(returns: Float[np.ndarray, "draw objective"]) -> Int[np.ndarray, " draw"]:
    """0 for the front, 1 for the front of what remains without it, and so on.

    >>> non_dominated_ranks(np.array([[1.0, 3.0], [2.0, 2.0], [1.0, 2.0], [0.0, 1.0]]))
    array([0, 0, 1, 2])
    """
    ranks = np.zeros(len(returns), dtype=np.int64)
    left = np.arange(len(returns))
    rank = 0
    while len(left):
        front = non_dominated_mask(returns[left])
        ranks[left[front]] = rank
        left, rank = left[~front], rank + 1
    return ranks


def utilities(
    ranks: Int[np.ndarray, " draw"], merit: Float[np.ndarray, " draw"]
) -> Float[np.ndarray, " draw"]:
    """The usual utilities of evolution strategies, max(0, log(n/2 + 1) - log(place)), scaled.

    Only the order counts: contributions to a hypervolume differ by orders of magnitude, and the
    treasure next to the start would never be worth a draw. Draws that tie have their mean place.

    >>> utilities(np.array([0, 0, 1, 1]), np.array([2.0, 5.0, 0.0, 0.0])).round(2)
    array([0.27, 0.73, 0.  , 0.  ])
    """
    # Places by rank first and by merit among equal ranks; ties are found by a common key.
    order = np.lexsort((-merit, ranks))
    keys = np.column_stack([ranks, merit])[order]
    starts = np.flatnonzero(np.append(True, np.any(keys[1:] != keys[:-1], axis=1)))
    sizes = np.diff(np.append(starts, len(order)))
    places = np.empty(len(order))
    places[order] = np.repeat(starts + (sizes + 1) / 2, sizes)
    values = np.maximum(0.0, np.log(len(order) / 2 + 1) - np.log(places))
    return values / values.sum()


def _places(values: Float[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
    """1 for the smallest value, 2 for the next, ...; equal values have equal places."""
    return 1.0 + np.searchsorted(np.unique(values), values)
