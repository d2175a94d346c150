"""Grids: real numbers that are multiples of a unit, as whole numbers.

Many environments scale what they observe: a column of 14 is shown as 0, 1/13, 2/13 and so on. Such
numbers repeat like whole ones, but what an action adds to them differs by rounding.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

MOST_LEVELS = 10_000
"""Numbers with more levels between the smallest and the largest one are taken for continuous."""
ROUNDING = 4e-6
"""Error of a number in single precision, or of one that was computed with it, by its size."""
OFF = 0.05
"""Share of a unit that a number may lie beside the grid."""


@dataclass(frozen=True)
class Grid:
    """The unit of each part of an observation, and one number that lies on the grid."""

    origins: Float[np.ndarray, " part"]
    units: Float[np.ndarray, " part"]

    def levels(self, numbers: Float[np.ndarray, "*step part"]) -> Float[np.ndarray, "*step part"]:
        """The numbers in units from the origin, as whole numbers."""
        return np.round((numbers - self.origins) / self.units) + 0.0

    def holds(self, numbers: Float[np.ndarray, "*step part"]) -> bool:
        """Whether all of these numbers lie on the grid."""
        exact = (numbers - self.origins) / self.units
        return bool(np.all(np.abs(exact - np.round(exact)) <= OFF))

    def widened(self, numbers: Float[np.ndarray, "step part"]) -> "Grid | None":
        """A grid that holds these numbers, too; None if there is none."""
        return fitted(np.concatenate([numbers, [self.origins, self.origins + self.units]]))


def fitted(numbers: Float[np.ndarray, "step part"]) -> Grid | None:
    """The coarsest grid that holds all of these numbers; None where they are continuous.

    >>> fitted(np.array([[0.0, 5.0], [0.4, 5.0], [1.0, 5.0]])).units
    array([0.2, 1. ])
    >>> fitted(np.random.default_rng(0).uniform(size=(20, 1)))
    """
    if not np.isfinite(numbers).all():
        return None
    units = np.array([_unit(np.unique(column)) for column in numbers.T])
    grid = Grid(numbers.min(axis=0), units)
    few = np.all(np.ptp(numbers, axis=0) <= MOST_LEVELS * units)
    return grid if few and grid.holds(numbers) else None


def _unit(values: Float[np.ndarray, " value"]) -> float:
    """The greatest common divisor of all differences, up to rounding; 1 for a single value."""
    rounding = ROUNDING * float(np.abs(values).max())
    unit = 0.0
    for gap in np.unique(np.diff(values)).tolist():
        while gap > rounding:
            unit, gap = gap, unit % gap
            # A remainder just below the divisor is a rounded zero.
            gap = 0.0 if unit - gap < rounding else gap
    if unit == 0:
        return 1.0
    extent = float(np.ptp(values))
    return extent / round(extent / unit)  # without the errors that have added up
