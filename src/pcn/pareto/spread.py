"""The spread of returns in each objective, and the tolerance within which they are equal."""

import numpy as np
from jaxtyping import Bool, Float

Tolerances = Float[np.ndarray, " objective"] | float
"""The difference up to which returns are equal: for each objective, or one number for all."""

SINGLE_PRECISION = 4 * float(np.finfo(np.float32).eps)
"""Rewards have single precision: differences below this share of a return are noise."""


def spread(returns: Float[np.ndarray, "point objective"]) -> Float[np.ndarray, " objective"]:
    """The range of the returns in each objective; zeros where there are none.

    >>> spread(np.array([[1.0, -5.0], [3.0, -5.0]]))
    array([2., 0.])
    """
    return np.ptp(returns, axis=0) if len(returns) else np.zeros(returns.shape[1])


def tolerances_for(
    returns: Float[np.ndarray, "point objective"], share: float
) -> Float[np.ndarray, " objective"]:
    """A share of the spread in each objective, and never less than single precision.

    Multiplying an objective's rewards multiplies its tolerance, so units do not matter.

    >>> tolerances_for(np.array([[1.0, -5.0], [3.0, -1.0]]), share=0.01)
    array([0.02, 0.04])
    """
    largest = np.abs(returns).max(axis=0, initial=0.0)
    return np.maximum(share * spread(returns), SINGLE_PRECISION * largest)


def has_changed(
    now: Float[np.ndarray, " objective"], before: Float[np.ndarray, " objective"], factor: float
) -> Bool[np.ndarray, " objective"]:
    """Which spreads have grown or shrunk by more than a factor; from zero every change counts."""
    return (now > factor * before) | (factor * now < before)
