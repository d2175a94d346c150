"""Cardinality: the number of different trade-offs among returns."""

import numpy as np
from jaxtyping import Float

from pcn.pareto import PARETO, AbstractOrder, Tolerances, rounded, unique_front


def cardinality(
    returns: Float[np.ndarray, "point objective"],
    *,
    tolerances: Tolerances = 0.0,
    order: AbstractOrder = PARETO,
) -> float:
    """The number of distinct non-dominated returns, after rounding to the tolerances.

    With another `order` than Pareto's, it counts the returns that are non-dominated in that order.

    >>> cardinality(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 2.0], [0.0, 0.0]]))
    2.0
    """
    if order != PARETO:
        returns = returns[order.non_dominated_mask(returns, tolerances)]
    return float(len(unique_front(rounded(returns, tolerances))))
