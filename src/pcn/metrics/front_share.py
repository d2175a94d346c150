"""The share of the true front that was found."""

import numpy as np
from jaxtyping import Bool, Float

from pcn.metrics.normalise import check_comparable
from pcn.pareto import Tolerances, tolerances_for

SMALL_SHARE = 1e-4
"""Returns closer than this share of the front's spread count as equal."""


def found_mask(
    returns: Float[np.ndarray, "point objective"],
    front: Float[np.ndarray, "front objective"],
    *,
    tolerances: Tolerances,
) -> Bool[np.ndarray, " front"]:
    """Mark the points of the front that a return equals, up to `tolerances` in each objective."""
    # One point after the other: all differences at once would fill memory for long fronts.
    return np.array(
        [bool(np.any(np.all(np.abs(returns - point) <= tolerances, axis=1))) for point in front],
        dtype=bool,
    )


def front_share(
    returns: Float[np.ndarray, "point objective"],
    front: Float[np.ndarray, "front objective"],
    *,
    tolerances: Tolerances | None = None,
) -> float:
    """The share of the true front's points that a return equals, up to `tolerances`.

    Without tolerances a small share of the front's spread is the limit.

    >>> front_share(np.array([[1.0, 3.0], [2.0, 0.0]]), np.array([[1.0, 3.0], [2.0, 1.0]]))
    0.5
    """
    check_comparable(returns, front)
    if tolerances is None:
        tolerances = tolerances_for(front, SMALL_SHARE)
    return float(found_mask(returns, front, tolerances=tolerances).mean())
