"""Checks of arguments for environments of other packages: Gymnasium's and those in JAX."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pcn.errors import UserError

COUNTS = ("environments", "frame_stack", "step_limit")
"""Arguments that count something: at least 1, where they are given."""


def check_counts(settled: Mapping[str, Any]) -> None:
    """Refuse counts below 1; None and missing arguments are allowed."""
    for name in COUNTS:
        value = settled.get(name)
        if value is not None and value < 1:
            raise UserError(f"{name} must be at least 1, got {value}")


def check_reference_point(point: Sequence[float], num_objectives: int) -> tuple[float, ...]:
    """The point, if it is one finite number for each objective."""
    if len(point) != num_objectives or not all(map(math.isfinite, point)):
        raise UserError(
            f"reference_point must be {num_objectives} finite numbers, got {tuple(point)}"
        )
    return tuple(map(float, point))
