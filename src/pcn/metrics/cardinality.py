"""Cardinality: how many different trade-offs a set of returns offers."""

import numpy as np
from jaxtyping import Float

from pcn.pareto import Tolerances, rounded, unique_front


def cardinality(
    returns: Float[np.ndarray, "point objective"], *, tolerances: Tolerances = 0.0
) -> float:
    """The number of distinct non-dominated returns, after rounding to the tolerances.

    >>> cardinality(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 2.0], [0.0, 0.0]]))
    2.0
    """
    return float(len(unique_front(rounded(returns, tolerances))))
