"""Choose a few points that represent many: the best of each objective, then the farthest ones."""

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.pareto.dominance import non_dominated_mask


def best_first(
    returns: Float[np.ndarray, "point objective"],
    *,
    front_mask: Bool[np.ndarray, " point"] | None = None,
) -> Int[np.ndarray, " point"]:
    """An order of points such that the first k are a good choice, for every k.

    The non-dominated points come first: the best of each objective, then repeatedly the point that
    is farthest from all before it, in units of their ranges. The dominated points follow, the
    nearest first. The non-dominated points can be given, if another order than Pareto's decides.

    `spread_out` is similar, for vectors that are all non-dominated: it also begins with the best
    sum, and breaks ties of an extreme by the sum. Replacing one function by the other changes
    results.

    >>> best_first(np.array([[0.0, 4.0], [1.0, 3.0], [2.0, 2.0], [4.0, 0.0], [0.0, 0.0]]))
    array([3, 0, 2, 1, 4])
    """
    on_front = non_dominated_mask(returns) if front_mask is None else front_mask
    extent = np.ptp(returns[on_front], axis=0)
    scaled = returns / np.where(extent > 0, extent, 1.0)
    front = np.flatnonzero(on_front)
    order: list[int] = list(dict.fromkeys(front[np.argmax(scaled[front], axis=0)].tolist()))
    distance = np.full(len(returns), np.inf)
    for one in order:
        distance = np.minimum(distance, np.linalg.norm(scaled - scaled[one], axis=1))
    left = [one for one in front.tolist() if one not in set(order)]
    while left:
        one = left.pop(int(np.argmax(distance[left])))
        order.append(one)
        distance = np.minimum(distance, np.linalg.norm(scaled - scaled[one], axis=1))
    dominated = np.flatnonzero(~on_front)
    nearest = dominated[np.argsort(distance[dominated], kind="stable")]
    return np.concatenate([np.array(order, np.int64), nearest])


def spread_out(
    vectors: Float[np.ndarray, "vector objective"], count: int
) -> Int[np.ndarray, " kept"]:
    """Indices of `count` vectors that represent all: the extremes, the best sum, the farthest ones.

    Every objective is scaled to [0, 1]. After the best vector of each objective and the one with
    the largest sum, the vector that is farthest from the chosen ones comes next, again and again.
    All vectors should be non-dominated; `best_first` orders points that may not be. Sets of
    thousands are reduced at every state of a plan, so distances are computed by matrix products.

    >>> spread_out(np.array([[0.0, 4.0], [1.0, 3.5], [2.0, 3.0], [4.0, 0.0]]), 3)
    array([3, 0, 2])
    """
    lowest, highest = vectors.min(axis=0), vectors.max(axis=0)
    scaled = (vectors - lowest) / np.where(highest > lowest, highest - lowest, 1.0)
    # Ties of an extreme are broken by the sum, to get the best corner of a face.
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
