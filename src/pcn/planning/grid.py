"""A grid over observations of few real numbers: those in one cell count as equal."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells of equal size between the lowest and the highest corner.

    What lies outside belongs to the nearest cell.
    """

    low: Float[np.ndarray, " number"]
    high: Float[np.ndarray, " number"]
    counts: Int[np.ndarray, " number"]
    """How many cells there are in each direction."""

    @classmethod
    def over(
        cls, observations: Float[np.ndarray, "step number"], *, most_cells: int, most_along: int
    ) -> "Grid":
        """A grid over what was seen; at most `most_along` cells in each direction.

        >>> Grid.over(np.array([[0.0], [8.0]]), most_cells=100, most_along=4).counts
        array([4])
        """
        low, high = observations.min(axis=0), observations.max(axis=0)
        high = np.where(high > low, high, low + 1.0)
        along = int(min(most_along, most_cells ** (1 / len(low)) + 1e-9))
        return cls(low.astype(np.float64), high.astype(np.float64), np.full(len(low), along))

    def centres(self, observations: Float[np.ndarray, "*step number"]) -> np.ndarray:
        """The centre of the cell that each observation lies in, in the observations' own dtype."""
        size = (self.high - self.low) / self.counts
        index = np.floor((observations - self.low) / size)
        index = np.clip(index, 0, self.counts - 1)
        return (self.low + (index + 0.5) * size).astype(observations.dtype)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything as named arrays."""
        return {"grid.low": self.low, "grid.high": self.high, "grid.counts": self.counts}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "Grid | None":
        """What `to_arrays` gave; None if there was no grid."""
        if "grid.low" not in arrays:
            return None
        return cls(*(np.array(arrays[f"grid.{name}"]) for name in ("low", "high", "counts")))
