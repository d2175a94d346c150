"""For how many preferences each point of a front is the best one."""

import numpy as np
from jaxtyping import Float, Int

from pcn.pareto.compromise import shares

NUM_PREFERENCES = 256
"""How many preferences are asked; always the same ones."""
SUM_WEIGHT = 1e-3
"""Weight of the mean loss beside the largest one: it decides between points that are equal
there."""


def preferred_shares(
    returns: Float[np.ndarray, "point objective"], *, best: int = 1, width: float = 1.0
) -> Float[np.ndarray, " point"]:
    """The share of preferences for which each point is the best one; they add up to 1.

    With `best` larger than 1, so many points share each preference: the best ones for it. Each
    gets e times less for every `width` that its loss is larger than the smallest one.

    A preference weighs the objectives, uniformly over the simplex, and prefers the point whose
    largest weighted loss against the ideal is the smallest (Chebyshev), with objectives scaled to
    their ranges. So every non-dominated point can be preferred, also where the front is concave,
    and many points close together share what one alone would have.

    >>> close = [[0.0, 1.0], [0.01, 0.99], [0.02, 0.98], [0.03, 0.97]]
    >>> preferred_shares(np.array([*close, [1.0, 0.0]])).round(1)
    array([0. , 0. , 0. , 0.5, 0.5])
    """
    regrets = 1.0 - shares(returns)
    weights = np.random.default_rng(0).dirichlet(np.ones(returns.shape[1]), size=NUM_PREFERENCES)
    largest, total = np.zeros((2, NUM_PREFERENCES, len(returns)))
    for weight, regret in zip(weights.T, regrets.T, strict=True):  # quicker than all at once
        weighted = weight[:, None] * regret
        np.maximum(largest, weighted, out=largest)
        total += weighted
    count = min(best, len(returns))
    losses = largest + SUM_WEIGHT * total
    first = np.argpartition(losses, count - 1, axis=1)[:, :count]
    loss = np.take_along_axis(losses, first, axis=1)
    parts = np.exp((loss.min(axis=1, keepdims=True) - loss) / width)
    parts /= NUM_PREFERENCES * parts.sum(axis=1, keepdims=True)
    return np.bincount(first.ravel(), parts.ravel(), minlength=len(returns))


def preferred_first(
    returns: Float[np.ndarray, "point objective"],
) -> Int[np.ndarray, " point"]:
    """An order of points: first those that some preference finds best, most preferred first.

    Then come those that are best among the others, and so on.

    >>> preferred_first(np.array([[0.0, 3.0], [3.0, 0.0], [2.5, 2.5], [0.0, 2.0], [1.0, 1.0]]))
    array([2, 0, 1, 3, 4])
    """
    left, order = np.arange(len(returns)), np.zeros(0, np.int64)
    while len(left):
        share = preferred_shares(returns[left])
        best = np.argsort(-share, kind="stable")[: int((share > 0).sum())]
        order = np.append(order, left[best])
        left = np.delete(left, best)
    return order
