"""The share of the true front that was found."""

import numpy as np
from jaxtyping import Bool, Float

from pcn.metrics.normalise import check_comparable


def found_mask(
    returns: Float[np.ndarray, "point objective"],
    front: Float[np.ndarray, "front objective"],
    *,
    tolerance: float,
) -> Bool[np.ndarray, " front"]:
    """Mark the points of the front that a return equals, up to `tolerance` in each objective."""
    # One point after the other: all differences at once would fill memory for long fronts.
    return np.array(
        [bool(np.any(np.all(np.abs(returns - point) <= tolerance, axis=1))) for point in front],
        dtype=bool,
    )


def front_share(
    returns: Float[np.ndarray, "point objective"],
    front: Float[np.ndarray, "front objective"],
    *,
    tolerance: float = 1e-3,
) -> float:
    """The share of the true front's points that a return equals, up to `tolerance`.

    >>> front_share(np.array([[1.0, 3.0], [2.0, 0.0]]), np.array([[1.0, 3.0], [2.0, 1.0]]))
    0.5
    """
    check_comparable(returns, front)
    return float(found_mask(returns, front, tolerance=tolerance).mean())
