"""Scoreboard: the dominating scores of a changing set of returns, kept up to date."""

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.pareto.crowding import crowding_in_order
from pcn.pareto.dominance import Criteria, DominanceCounts
from pcn.pareto.dominating_score import (
    CROWDED_BELOW,
    DUPLICATE_PENALTY,
    among,
    in_extents,
    nearest,
    score,
)
from pcn.pareto.spread import Tolerances


class Scoreboard:
    """The `dominating_score` of N stored returns, at a cost of k x N for k changes.

    Points keep their order: `add` appends, `keep` and `prune` close the gaps, so a caller that
    stores data for each return applies the same index. The state is a function of the returns
    stored and their order: adding them to a new scoreboard restores it. With `tolerances`, points
    are scored as if rounded to their multiples; see `DominanceCounts`. With `extents`, the distance
    to the front is measured in them; see `dominating_score`. With `criteria`, these decide
    dominance, and the distance to the front and the extents refer to the criteria; crowding still
    refers to the returns.

    >>> board = Scoreboard(num_objectives=2)
    >>> board.add(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    >>> board.scores()
    array([ 0.e+00,  0.e+00, -4.e-05, -1.e+00])
    >>> board.prune(capacity=3)
    array([0, 1, 2])
    """

    # Invariant: a front point's nearest front point is itself; a row whose `_nearest_index`
    # is not a front point has to search again. `_order` is the `stable_order` of the points.
    _nearest_index: Int[np.ndarray, " point"]
    _nearest_squared: Float[np.ndarray, " point"]
    _order: Int[np.ndarray, "objective point"]

    def __init__(
        self,
        num_objectives: int,
        *,
        crowded_below: float = CROWDED_BELOW,
        duplicate_penalty: float = DUPLICATE_PENALTY,
        tolerances: Tolerances = 0.0,
        extents: Float[np.ndarray, " objective"] | None = None,
        criteria: Criteria | None = None,
    ) -> None:
        self.crowded_below = crowded_below
        self.duplicate_penalty = duplicate_penalty
        self._counts = DominanceCounts(num_objectives, tolerances=tolerances, criteria=criteria)
        self._extents = extents
        self._nearest_index = np.zeros(0, dtype=np.int64)
        self._nearest_squared = np.zeros(0)
        self._order = np.zeros((num_objectives, 0), dtype=np.int64)

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def returns(self) -> Float[np.ndarray, "point objective"]:
        """The stored returns, rounded to the tolerances, oldest first."""
        return self._counts.returns

    @property
    def non_dominated_mask(self) -> Bool[np.ndarray, " point"]:
        """Mark the points that no other stored point dominates."""
        return self._counts.non_dominated_mask

    @property
    def num_earlier_copies(self) -> Int[np.ndarray, " point"]:
        """How many points equal to each were stored before it; zero marks the original."""
        return self._counts.num_earlier_copies

    def add(self, returns: Float[np.ndarray, "new objective"]) -> None:
        """Store more returns after those already there."""
        self._counts.add(returns)
        new_index = np.arange(len(self._nearest_index), len(self))
        self._nearest_index = np.concatenate([self._nearest_index, new_index])
        self._nearest_squared = np.concatenate([self._nearest_squared, np.zeros(len(new_index))])
        self._find_nearest(new_index[self.non_dominated_mask[new_index]])
        self._sort_in(new_index)

    def scores(self) -> Float[np.ndarray, " point"]:
        """The dominating score of each stored point."""
        copies = self._counts.num_earlier_copies
        return score(
            np.sqrt(self._nearest_squared),
            crowding_in_order(self._counts.columns, among(self._order, copies == 0)),
            copies,
            crowded_below=self.crowded_below,
            duplicate_penalty=self.duplicate_penalty,
        )

    def prune(self, capacity: int, *, most_copies: int | None = None) -> Int[np.ndarray, " kept"]:
        """Keep the `capacity` points of highest score, and return their former indices.

        Scores are those before pruning. Among equal scores, copies are dropped first and then the
        oldest, so that a dataset full of equally good points still accepts new ones. Points of
        which `most_copies` earlier copies are stored are dropped before all others.
        """
        if capacity < 0:
            raise ValueError(f"capacity must not be negative, got {capacity}")
        if len(self) <= capacity:
            return np.arange(len(self))
        copies = self._counts.num_earlier_copies
        needed = np.ones(len(self), bool) if most_copies is None else copies < most_copies
        worst_first = np.lexsort((-copies, self.scores(), needed))
        kept_mask = np.ones(len(self), dtype=bool)
        kept_mask[worst_first[: len(self) - capacity]] = False
        self.keep(kept_mask)
        return kept_mask.nonzero()[0]

    def keep(self, mask: Bool[np.ndarray, " point"]) -> None:
        """Drop the points outside `mask`."""
        kept_index = mask.nonzero()[0]
        was_front_mask = self.non_dominated_mask.take(kept_index)
        nearest_index = self._nearest_index.take(kept_index)
        self._counts.keep(mask)
        new_index = mask.cumsum() - 1
        self._order = new_index.take(among(self._order, mask))
        # A point that has lost its nearest point refers to itself, and so will search.
        self._nearest_index = np.where(
            mask.take(nearest_index), new_index.take(nearest_index), np.arange(len(kept_index))
        )
        self._nearest_squared = self._nearest_squared.take(kept_index)
        self._find_nearest((self.non_dominated_mask > was_front_mask).nonzero()[0])

    def _sort_in(self, new_index: Int[np.ndarray, " new"]) -> None:
        """Bring the order up to date; sorting what is nearly sorted takes linear time."""
        num_objectives, num_old = self._order.shape
        order = np.empty((num_objectives, len(self)), dtype=np.int64)
        order[:, :num_old], order[:, num_old:] = self._order, new_index
        objective = np.arange(num_objectives)[:, None]
        nearly_ascending = self._counts.columns[objective, order]
        self._order = order[objective, nearly_ascending.argsort(axis=1, kind="stable")]

    def _find_nearest(self, entered_index: Int[np.ndarray, " entered"]) -> None:
        """Restore the invariant after the front changed and `entered_index` joined it."""
        self._nearest_index[entered_index] = entered_index
        self._nearest_squared[entered_index] = 0.0
        front_mask = self.non_dominated_mask
        has_nearest_mask = front_mask.take(self._nearest_index)
        columns = in_extents(self._counts.compared, self._extents)

        if entered_index.size:
            settled_index = (has_nearest_mask > front_mask).nonzero()[0]
            found, squared = nearest(columns, settled_index, entered_index)
            closer = squared < self._nearest_squared[settled_index]
            self._nearest_index[settled_index[closer]] = found[closer]
            self._nearest_squared[settled_index[closer]] = squared[closer]
        if not has_nearest_mask.all():
            searching_index, front_index = (~has_nearest_mask).nonzero()[0], front_mask.nonzero()[0]
            found, squared = nearest(columns, searching_index, front_index)
            self._nearest_index[searching_index] = found
            self._nearest_squared[searching_index] = squared
