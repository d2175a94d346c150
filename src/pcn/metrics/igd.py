"""Inverted generational distance: the mean distance from the true front to the returns."""

import moocore
import numpy as np
from jaxtyping import Float

from pcn.metrics.normalise import check_comparable, normalised


def igd(
    returns: Float[np.ndarray, "point objective"],
    front: Float[np.ndarray, "front objective"],
    *,
    normalise: bool = False,
) -> float:
    """The mean over the true front of the Euclidean distance to the closest return.

    By default on the returns as they are, the field's convention, so objectives with large
    numbers decide; `normalise=True` scales them by the front as the epsilon indicators do.
    Lower is better; an empty set is infinitely far.

    >>> igd(np.array([[0.0, 4.0]]), np.array([[0.0, 4.0], [3.0, 0.0]]))
    2.5
    """
    check_comparable(returns, front)
    if len(returns) == 0:
        return float("inf")  # moocore says 0
    if normalise:
        returns, front = normalised(returns, front=front), normalised(front, front=front)
    return float(moocore.igd(returns, ref=front, maximise=True))
