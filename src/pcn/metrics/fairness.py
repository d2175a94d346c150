"""Fairness: how evenly returns are distributed over objectives of one unit.

The inputs are gains: what each objective gets above a common zero, never negative.
"""

import numpy as np
from jaxtyping import Float


def gini(gains: Float[np.ndarray, "point objective"]) -> Float[np.ndarray, " point"]:
    """Gini index of each point: 0 where all objectives get the same, near 1 where one gets all.

    It is the mean difference of two objectives over twice the mean; 0 where nobody gets anything.

    >>> gini(np.array([[2.0, 2.0], [0.0, 4.0], [0.0, 0.0]]))
    array([0. , 0.5, 0. ])
    """
    difference = np.abs(gains[:, :, None] - gains[:, None]).mean(axis=(1, 2))
    mean = gains.mean(axis=1)
    return difference / np.where(mean > 0, 2 * mean, 1.0)


def sen_welfare(gains: Float[np.ndarray, "point objective"]) -> Float[np.ndarray, " point"]:
    """Sen welfare of each point: the mean gain times one minus the Gini index.

    It is the mean, over all pairs of objectives, of what the worse-off of the two gets, and so
    grows, or stays, with every objective.

    >>> sen_welfare(np.array([[2.0, 2.0], [0.0, 4.0]]))
    array([2., 1.])
    """
    return np.minimum(gains[:, :, None], gains[:, None]).mean(axis=(1, 2))


def worst_off(gains: Float[np.ndarray, "point objective"]) -> Float[np.ndarray, " point"]:
    """What the worst-off objective of each point gets.

    >>> worst_off(np.array([[2.0, 2.0], [0.0, 4.0]]))
    array([2., 0.])
    """
    return gains.min(axis=1)
