"""Returns in words, as a person reads them: a cost has no minus sign."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float

from pcn.envs.spec import EnvironmentSpec, Objective
from pcn.runs.display import shown_value

SMALLEST_SHARE = 0.0005
"""Differences below this share of a range are not mentioned."""
MOST_DIFFERENCES = 3
"""The number of differences that are mentioned, the largest first."""


def values_in_words(returns: Iterable[float], spec: EnvironmentSpec) -> str:
    """Every objective with its value and unit: `treasure 124, time 19 steps`."""
    pairs = zip(returns, spec.objectives, strict=True)
    return ", ".join(_value(float(value), objective) for value, objective in pairs)


def _value(value: float, objective: Objective) -> str:
    unit = f" {objective.unit}" if objective.unit else ""
    return f"{objective.name} {shown_value(value, objective.direction)}{unit}"


def differences_in_words(off: Float[np.ndarray, " objective"], spec: EnvironmentSpec) -> str:
    """How far a return is off in each objective, as shares of the front's range."""
    largest = np.argsort(-np.abs(off), kind="stable")
    differences = [
        f"{spec.objective_names[index]} {share_in_words(abs(off[index]))} of its range "
        f"{'better' if off[index] > 0 else 'worse'}"
        for index in largest.tolist()
        if abs(off[index]) >= SMALLEST_SHARE
    ]
    more = (
        f" and {len(differences) - MOST_DIFFERENCES} smaller differences"
        if len(differences) > MOST_DIFFERENCES
        else ""
    )
    return ", ".join(differences[:MOST_DIFFERENCES]) + more if differences else "just as asked"


def share_in_words(share: float) -> str:
    """A share in percent, in two digits.

    >>> share_in_words(0.0785), share_in_words(1.23)
    ('7.8 %', '120 %')
    """
    percent = float(f"{100 * share:.2g}")
    return f"{percent:g} %"
