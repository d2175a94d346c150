"""Epsilon indicators: how far the points of the true front are from the coverage set."""

import numpy as np
from jaxtyping import Float

from pcn.metrics.normalise import normalised

_MOST_PAIRS_AT_ONCE = 1 << 17  # 1 MB of distances: they stay in the cache


def epsilon(
    returns: Float[np.ndarray, "point objective"], front: Float[np.ndarray, "front objective"]
) -> float:
    """The largest of the `epsilons`: the paper's I_eps, its worst case. Lower is better.

    >>> epsilon(np.array([[0.0, 4.0]]), np.array([[0.0, 4.0], [2.0, 0.0]]))
    1.0
    """
    return float(epsilons(returns, front).max())


def epsilon_mean(
    returns: Float[np.ndarray, "point objective"], front: Float[np.ndarray, "front objective"]
) -> float:
    """The mean of the `epsilons`: the paper's I_eps-mean. Lower is better.

    >>> epsilon_mean(np.array([[0.0, 4.0]]), np.array([[0.0, 4.0], [2.0, 0.0]]))
    0.5
    """
    return float(epsilons(returns, front).mean())


def epsilons(
    returns: Float[np.ndarray, "point objective"], front: Float[np.ndarray, "front objective"]
) -> Float[np.ndarray, " front"]:
    """For each point of the true front, the L-infinity distance to the closest return.

    Objectives are normalised by the true front's minimum and range (see `normalised`). The
    distance is two-sided: a return that exceeds the front point in an objective is that far
    from it. A dominated return can be the closest one, so pass the coverage set and not
    everything ever reached. Nothing is close to an empty set: its epsilons are infinite.
    """
    wanted, reached = normalised(front, front=front), normalised(returns, front=front)
    closest = np.full(len(wanted), np.inf)
    if len(reached) == 0:
        return closest
    size = max(1, _MOST_PAIRS_AT_ONCE // len(reached))
    for start in range(0, len(wanted), size):
        rows = slice(start, start + size)
        largest = np.abs(wanted[rows, :1] - reached[:, 0])
        for objective in range(1, wanted.shape[1]):
            gap = np.abs(wanted[rows, objective, None] - reached[:, objective])
            np.maximum(largest, gap, out=largest)
        closest[rows] = largest.min(axis=1)  # the epsilon of each point in Eq. (4)
    return closest
