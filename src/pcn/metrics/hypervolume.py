"""Hypervolume: how much of objective space a set of returns dominates."""

import importlib
from typing import Any

import moocore
import numpy as np
from jaxtyping import Float

from pcn.errors import UserError
from pcn.pareto import unique_front

_MOST_OBJECTIVES_FOR_MOOCORE = 5
"""Number of objectives from which pygmo is used: a thousand points with 7 objectives take moocore
minutes and pygmo's WFG a tenth of a second."""
MOST_OBJECTIVES_WITHOUT_PYGMO = 6
"""Number of objectives up to which moocore is used if pygmo is missing."""


def hypervolume(
    returns: Float[np.ndarray, "point objective"],
    reference_point: Float[np.ndarray, " reference"],
) -> float:
    """The volume between `reference_point` and the returns.

    Only points better than the reference point in every objective count; without any, the
    volume is zero. More than six objectives need pygmo, an optional dependency.

    >>> hypervolume(np.array([[1.0, 3.0], [2.0, 2.0]]), np.zeros(2))  # boxes 1x3 and 2x2
    5.0
    """
    num_objectives = returns.shape[1]
    if len(reference_point) != num_objectives:
        raise ValueError(
            f"reference_point has {len(reference_point)} objectives, returns have {num_objectives}"
        )
    if np.isnan(returns).any() or np.isnan(reference_point).any():  # they would count as nothing
        raise ValueError("hypervolume needs numbers, got NaN")
    better = returns[np.all(returns > reference_point, axis=1)]
    if len(better) == 0:
        return 0.0
    front = better[unique_front(better)]
    pygmo = pygmo_for(num_objectives)
    if pygmo is None:
        return float(moocore.hypervolume(front, ref=reference_point, maximise=True))
    return float(pygmo.hypervolume(-front).compute(-reference_point))  # pygmo minimises


def pygmo_for(num_objectives: int) -> Any:
    """The package pygmo; None if it is not needed, or if it is missing and moocore will do."""
    if num_objectives <= _MOST_OBJECTIVES_FOR_MOOCORE:
        return None
    try:
        return importlib.import_module("pygmo")
    except ImportError as error:
        if num_objectives <= MOST_OBJECTIVES_WITHOUT_PYGMO:
            return None
        raise UserError(
            f"the hypervolume of {num_objectives} objectives needs pygmo: "
            "install pcn[many] (Linux only)"
        ) from error
