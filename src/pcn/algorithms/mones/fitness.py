"""How much a draw adds to the front of its pool: the fitness that MONES raises."""

import moocore
import numpy as np
from jaxtyping import Float, Int

from pcn.algorithms.mones.config import Fitness
from pcn.pareto import crowding_distance, non_dominated_mask


def fitness(
    returns: Float[np.ndarray, "draw objective"],
    reference_point: Float[np.ndarray, " objective"],
    kind: Fitness,
    *,
    most_objectives: int = 4,
) -> Float[np.ndarray, " draw"]:
    """The fitness of each draw of a pool; together one, or zero when none is worth anything.

    `auto` means hypervolume contributions up to `most_objectives`, and crowding beyond.

    Distinct returns are put in order: a better non-dominated rank comes first, and on the front
    what contributes more to the hypervolume, or is less crowded. The draws that reached the same
    return share the utility of its place. So the natural gradient is that of the sum of
    utility x log-probability over the distinct returns: what becomes rare pulls harder, and a
    distribution that reaches one return only, however good, has something to gain elsewhere.

    Where the hypervolume judges, returns that are worse than the reference point in an objective,
    or no better in any, are worth nothing: they add nothing, however cheap they are.
    """
    distinct, copy_of, copies = np.unique(returns, axis=0, return_inverse=True, return_counts=True)
    by_volume = kind == "hypervolume" or (kind == "auto" and returns.shape[1] <= most_objectives)
    worth_mask = np.ones(len(distinct), dtype=bool)
    if by_volume:
        worth_mask = np.all(distinct >= reference_point, axis=1)
        worth_mask &= np.any(distinct > reference_point, axis=1)
    points = distinct[worth_mask]
    ranks = non_dominated_ranks(points)
    merit = np.zeros(len(points))
    for rank in np.unique(ranks):
        peers = ranks == rank
        if by_volume and rank == 0:
            merit[peers] = hypervolume_contributions(points[peers], reference_point)
        else:
            merit[peers] = crowding_distance(points[peers])
    worth = np.zeros(len(distinct))
    worth[worth_mask] = utilities(ranks, merit)
    return (worth / copies)[copy_of.ravel()]


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
    ranks: Int[np.ndarray, " point"], merit: Float[np.ndarray, " point"]
) -> Float[np.ndarray, " point"]:
    """The usual utilities of evolution strategies, max(0, log(m + 1) - log(place)), scaled.

    Only the order counts: contributions to a hypervolume differ by orders of magnitude, and the
    treasure next to the start would never be worth a draw. Points that tie have their mean place.
    m is half of the points, as usual, but never less than the front: all of it is worth reaching.

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
    most = max(len(order) / 2, float(np.count_nonzero(ranks == 0)))
    values = np.maximum(0.0, np.log(most + 1) - np.log(places))
    return values / values.sum() if len(values) else values
