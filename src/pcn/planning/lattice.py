"""A lattice over observations of few real numbers, and interpolation between its nodes."""

import itertools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True, eq=False)
class Lattice:
    """Nodes at equal distances along each number of an observation.

    A place is an observation in units of that distance, counted from the first node: whole numbers
    are nodes. Places outside are as good as the nearest one at the edge.
    """

    low: Float[np.ndarray, " number"]
    """The first node."""
    size: Float[np.ndarray, " number"]
    """Distance of two nodes in each direction."""
    counts: Int[np.ndarray, " number"]
    """How many nodes there are in each direction, at least two."""

    @classmethod
    def over(
        cls, observations: Float[np.ndarray, "step number"], *, most_nodes: int, most_along: int
    ) -> "Lattice":
        """A lattice over what was seen; at most `most_along` nodes in each direction.

        >>> Lattice.over(np.array([[0.0], [8.0]]), most_nodes=100, most_along=5).size
        array([2.])
        """
        low, high = (edge(observations, axis=0).astype(np.float64) for edge in (np.min, np.max))
        high = np.where(high > low, high, low + 1.0)
        along = max(2, int(min(most_along, most_nodes ** (1 / len(low)) + 1e-9)))
        return cls(low, (high - low) / (along - 1), np.full(len(low), along))

    def __len__(self) -> int:
        return int(np.prod(self.counts))

    @property
    def nodes(self) -> Float[np.ndarray, "node number"]:
        """The place of every node."""
        index = np.unravel_index(np.arange(len(self)), tuple(self.counts))
        return np.stack(index, axis=-1).astype(np.float64)

    def places(
        self, observations: Float[np.ndarray, "*step number"]
    ) -> Float[np.ndarray, "*step number"]:
        """Observations as places."""
        return (np.asarray(observations, np.float64) - self.low) / self.size

    def observations(
        self, places: Float[np.ndarray, "*step number"]
    ) -> Float[np.ndarray, "*step number"]:
        """Places as observations."""
        return (self.low + places * self.size).astype(np.float32)

    def corners(
        self, places: Float[np.ndarray, "*step number"]
    ) -> tuple[Int[np.ndarray, "*step corner"], Float[np.ndarray, "*step corner"]]:
        """The nodes around each place, and the share of each in a linear interpolation."""
        inside = np.clip(places, 0.0, self.counts - 1.0)
        first = np.minimum(np.floor(inside).astype(np.int64), self.counts - 2)
        share = inside - first
        strides = np.append(np.cumprod(self.counts[:0:-1])[::-1], 1).astype(np.int64)
        nodes, shares = [], []
        for offset in itertools.product((0, 1), repeat=len(self.counts)):
            nodes.append((first + offset) @ strides)
            shares.append(np.prod(np.where(offset, share, 1.0 - share), axis=-1))
        return np.stack(nodes, axis=-1), np.stack(shares, axis=-1)
