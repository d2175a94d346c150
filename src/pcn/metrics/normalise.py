"""The scale on which distances to a front are measured."""

import numpy as np
from jaxtyping import Float


def normalised(
    returns: Float[np.ndarray, "point objective"], *, front: Float[np.ndarray, "front objective"]
) -> Float[np.ndarray, "point objective"]:
    """Scale each objective so that the front's minimum becomes 0 and its maximum 1.

    An objective in which the whole front agrees has no range: it is only shifted.

    >>> normalised(np.array([[1.0, 5.0]]), front=np.array([[0.0, 4.0], [2.0, 4.0]]))
    array([[0.5, 1. ]])
    """
    check_comparable(returns, front)
    lowest = front.min(axis=0)
    extent = front.max(axis=0) - lowest
    scaled: Float[np.ndarray, "point objective"] = returns - lowest
    scaled /= np.where(extent > 0, extent, 1.0)
    return scaled


def check_comparable(
    returns: Float[np.ndarray, "point objective"], front: Float[np.ndarray, "front objective"]
) -> None:
    """Refuse a front that is empty or has another number of objectives."""
    if returns.shape[1] != front.shape[1]:
        raise ValueError(f"front has {front.shape[1]} objectives, returns have {returns.shape[1]}")
    if len(front) == 0:
        raise ValueError("front has no points")
