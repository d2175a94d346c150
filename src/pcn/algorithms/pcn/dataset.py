"""The dataset of sections 4.1 and 4.4: a bounded set of episodes, pruned by dominating score."""

from collections.abc import Mapping
from dataclasses import fields, replace

import jax
import numpy as np
from jaxtyping import Bool, Float, Num, PyTree

from pcn.algorithms.pcn.core_config import CoreConfig
from pcn.algorithms.pcn.records import Records
from pcn.algorithms.pcn.rows import Archive, Rows
from pcn.algorithms.pcn.store import Arrival, Drawing, TransitionStore, written
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.errors import UserError
from pcn.pareto import PARETO, AbstractOrder, Scaled, Scoreboard, has_changed, spread
from pcn.serialisation.arrays import named_arrays, with_named_arrays

LEAST_RANGE = 0.2
"""Least range of an objective's returns-to-go, in the largest of them: inputs stay small."""


def command_extent(
    lowest: Float[np.ndarray, " objective"], highest: Float[np.ndarray, " objective"]
) -> Float[np.ndarray, " objective"]:
    """The range of each objective that commands are scaled by.

    What hardly varies around a large number must not become a large input.

    >>> command_extent(np.array([0.0, 99.0]), np.array([8.0, 100.0])).tolist()
    [8.0, 20.0]
    """
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    return np.maximum(highest - lowest, LEAST_RANGE * largest)


class Dataset:
    """Episodes in the order of their arrival; the hot path, so it is changed in place."""

    rows: Rows
    store: TransitionStore

    def __init__(
        self,
        spec: EnvironmentSpec,
        config: CoreConfig,
        *,
        room: int = 64,
        most_copies: int | None = None,
    ) -> None:
        """`room` is the size of the largest batch of episodes that is added."""
        self._config = config
        self._most_copies = most_copies
        # Room for one more batch: episodes are written first and pruned afterwards.
        self._num_slots = config.capacity + room
        self.store = TransitionStore.empty(spec, self._num_slots)
        self.records = Records(spec, self._num_slots)
        self.rows = Rows.none(spec.num_objectives)
        self._archive: Archive | None = None
        self.extents = np.zeros(spec.num_objectives)
        """How far the stored returns lie apart in each objective; follows in large steps."""
        self._fine_extents = np.zeros(spec.num_objectives)
        self.tolerances = config.tolerances(self.rows.returns)
        """Up to which difference returns are equal, in each objective."""
        self._tolerances_given = config.return_tolerance is not None
        self._lowest = np.zeros(spec.num_objectives)
        """The lowest stored returns when the extents were measured; zeros if nothing is scaled."""
        self._order = config.order
        self.board = self._new_board()

    def __len__(self) -> int:
        return len(self.rows.slots)

    def add(
        self, episodes: Episodes, *, stored_mask: Bool[np.ndarray, " episode"] | None = None
    ) -> None:
        """Store episodes, then prune to capacity by the dominating score.

        Those of `stored_mask` are stored; if it is not given, all that came to an end. Padding and
        episodes that were broken off never are.
        """
        stored = np.asarray(episodes.real_mask) & episodes.ended
        if stored_mask is not None:
            stored &= stored_mask
        index = np.flatnonzero(stored)
        if len(index) == 0:
            return
        taken = np.zeros(self._num_slots, dtype=bool)
        taken[self.rows.slots] = True
        # Slots beyond the last one are dropped when writing: batches keep their compiled shape.
        slots = np.full(episodes.num_episodes, self._num_slots, dtype=np.int32)
        slots[index] = np.flatnonzero(~taken)[: len(index)]
        arrival = Arrival(episodes, slots, np.asarray(self._config.discount, np.float32))
        self.store, ranges = written(arrival, self.store)
        self.records.write(episodes, index, slots[index])
        new = Rows(
            slots=slots[index],
            lengths=np.asarray(episodes.lengths, dtype=np.int64)[index],
            returns=episodes.returns(discount=self._config.discount)[index],
            lowest=np.asarray(ranges.lowest, dtype=np.float64)[index],
            highest=np.asarray(ranges.highest, dtype=np.float64)[index],
        )
        self._archive = None
        if self._config.newcomers_stay:
            self._prune(max(self._config.capacity - len(index), 0))
        self.board.add(new.returns)
        self.rows = self.rows.followed_by(new)
        self._prune(self._config.capacity)
        self._follow_spread()

    def _prune(self, capacity: int) -> None:
        """Keep the episodes of highest score."""
        kept = self.board.prune(capacity, most_copies=self._most_copies)
        if len(kept) < len(self):
            self.rows = self.rows.taking(kept)

    def _follow_spread(self) -> None:
        """Measure distances and tolerances anew once the returns' spread has changed enough.

        Distances are measured in the spread of all stored returns. Tolerances follow that of the
        non-dominated ones, where it is not zero: wasteful episodes must not blur the front.
        """
        returns, factor = self.rows.returns, self._config.command_spread_change
        front = returns[self.board.non_dominated_mask]
        extents, front_extents = spread(returns), spread(front)
        fine = np.where(front_extents > 0, front_extents, extents)
        coarse_changed = has_changed(extents, self.extents, factor).any()
        fine_changed = has_changed(fine, self._fine_extents, factor).any()
        if not coarse_changed and (self._tolerances_given or not fine_changed):
            return
        self.extents, self._fine_extents = extents, fine
        if self._scales:
            self._lowest = returns.min(axis=0)
        if not self._tolerances_given:
            self.tolerances = np.where(
                front_extents > 0, self._config.tolerances(front), self._config.tolerances(returns)
            )
        self._refill_board()

    def set_tolerances(self, tolerances: Float[np.ndarray, " objective"]) -> None:
        """Compare returns by these tolerances from now on, whatever their spread."""
        self.tolerances, self._tolerances_given = tolerances, True
        self._refill_board()

    @property
    def _scales(self) -> bool:
        return self._config.dominance_scaling == "seen"

    @property
    def order(self) -> AbstractOrder:
        """What makes a return better than another one; a scaling follows in large steps."""
        if not self._scales:
            return self._order
        return Scaled(self._order, tuple(self._lowest.tolist()), tuple(self.extents.tolist()))

    def _new_board(self) -> Scoreboard:
        config, order, tolerances = self._config, self.order, self.tolerances
        return Scoreboard(
            self.rows.returns.shape[1],
            crowded_below=config.crowded_below,
            duplicate_penalty=config.duplicate_penalty,
            tolerances=tolerances,
            extents=order.criteria_margins(self.extents) if config.normalised_distance else None,
            criteria=None
            if order == PARETO
            else lambda returns: order.fine_criteria(returns, tolerances),
        )

    def _refill_board(self) -> None:
        """Score the stored returns anew."""
        self._archive = None
        self.board = self._new_board()
        self.board.add(self.rows.returns)

    def replace_equals(self, rows: Rows, episodes: Episodes) -> None:
        """Where an episode has the return and length of its row, store it in the row's place.

        There are as many rows as episodes that are not padding, which come first.
        """
        config, count = self._config, len(rows.slots)
        returns = episodes.returns(discount=config.discount)[:count]
        same = np.all(np.abs(returns - rows.returns) <= self.tolerances, axis=1)
        same &= np.asarray(episodes.lengths)[:count] == rows.lengths
        slots = np.full(episodes.num_episodes, self._num_slots, dtype=np.int32)
        slots[:count] = np.where(same, rows.slots, self._num_slots)
        arrival = Arrival(episodes, slots, np.asarray(config.discount, np.float32))
        self.store, ranges = written(arrival, self.store)
        self.records.write(episodes, np.flatnonzero(same), slots[:count][same])
        # The same return on another way may have been higher or lower in between.
        row_of_slot = np.zeros(self._num_slots, np.int64)
        row_of_slot[self.rows.slots] = np.arange(len(self))
        replaced = row_of_slot[rows.slots[same]]
        lowest, highest = self.rows.lowest.copy(), self.rows.highest.copy()
        lowest[replaced] = np.asarray(ranges.lowest)[:count][same]
        highest[replaced] = np.asarray(ranges.highest)[:count][same]
        self.rows = replace(self.rows, lowest=lowest, highest=highest)
        self._archive = None

    def archive(self) -> Archive:
        """The non-dominated episodes, one for each distinct return, ordered by return."""
        if self._archive is None:
            self._archive = self._find_archive()
        return self._archive

    def _find_archive(self) -> Archive:
        mask = self.board.non_dominated_mask & (self.board.num_earlier_copies == 0)
        index = np.flatnonzero(mask)
        order = np.lexsort(self.board.returns[index].T[::-1])
        return Archive(self.rows.taking(index[order]))

    def best(self, count: int) -> Archive:
        """The episodes of highest score; copies and dominated ones may be among them."""
        return Archive(self.rows.taking(np.argsort(-self.board.scores(), kind="stable")[:count]))

    def candidates(self, count: int) -> Archive:
        """The archive and the best other episodes, one for each distinct return and horizon.

        Where outcomes are stochastic, a command for less can return more on average.
        """
        best_first = np.argsort(-self.board.scores(), kind="stable")
        commands = np.column_stack([self.board.returns, self.rows.lengths])[best_first]
        _, first = np.unique(commands, axis=0, return_index=True)
        index = best_first[np.sort(first)[:count]]
        order = np.lexsort(self.board.returns[index].T[::-1])
        return Archive(self.rows.taking(index[order]))

    def drawing(self, rows: Rows) -> Drawing:
        """How batches are drawn from some of the episodes."""
        by_step = self._config.sample_by == "transition"
        weights = rows.lengths if by_step else np.ones_like(rows.lengths)
        return Drawing.over(rows.slots, weights, self._config.capacity)

    def actions(self, rows: Rows) -> list[Num[np.ndarray, "_ part"]]:
        """The actions of some episodes, each [time, part]."""
        actions = np.asarray(self.store.actions)  # no copy where the device is the processor
        return [
            actions[slot, :length].copy()
            for slot, length in zip(rows.slots, rows.lengths, strict=True)
        ]

    def command_scale(self) -> Float[np.ndarray, " command"]:
        """The factor on each part of a command: as configured, or from the archive's ranges."""
        rows = self.archive().rows
        extent = command_extent(rows.lowest.min(axis=0), rows.highest.max(axis=0))
        return self._config.command_scale_for(np.append(extent, rows.lengths.max()))

    def observations(self) -> PyTree[np.ndarray]:
        """What was seen at every stored step, one after the other."""
        valid = np.arange(self.rows.lengths.max()) < self.rows.lengths[:, None]
        return jax.tree.map(lambda leaf: leaf[valid], self.padded_observations(self.rows))

    def padded_observations(self, rows: Rows) -> PyTree[np.ndarray]:
        """What was seen in some episodes, each leaf [episode, time, ...], cut to the longest."""
        longest = int(rows.lengths.max())
        return jax.tree.map(
            lambda leaf: np.asarray(leaf)[rows.slots, :longest], self.store.observations
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything stored, oldest episode first, cut to the longest one."""
        longest = int(self.rows.lengths.max(initial=1))
        index = self.rows.slots
        named = named_arrays(self.store, "store")
        stored = {
            name: leaf[index] if leaf.ndim == 1 else leaf[index, :longest]
            for name, leaf in named.items()
        }
        return stored | {
            **self.records.to_arrays(index, longest),
            **{f"rows.{field.name}": getattr(self.rows, field.name) for field in fields(Rows)},
            "extents": self.extents,
            **({"lowest": self._lowest} if self._scales else {}),
            "fine_extents": self._fine_extents,
            "tolerances": self.tolerances,
            "tolerances_given": np.asarray(self._tolerances_given),
        }

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave; episodes may lie in other slots than before."""
        num_rows = len(arrays["rows.slots"])
        for name, array in arrays.items():
            if name.startswith(("rows.", "store.", "records.")) and array.shape[:1] != (num_rows,):
                raise UserError(f"{name} has shape {array.shape}, expected {num_rows} episodes")
        rows = Rows(*(arrays[f"rows.{field.name}"] for field in fields(Rows)))
        named = named_arrays(self.store, "store")
        for name, leaf in named.items():
            full = np.zeros_like(leaf)
            if leaf.ndim == 1:
                full[:num_rows] = arrays[name]
            else:
                full[:num_rows, : arrays[name].shape[1]] = arrays[name]
            named[name] = full
        self.store = with_named_arrays(self.store, named, "store")
        self.records.from_arrays(arrays, num_rows)
        self.rows = replace(rows, slots=np.arange(num_rows, dtype=np.int32))
        if "tolerances" in arrays:  # older runs have one that was given
            self.extents = np.array(arrays["extents"])
            self._lowest = np.array(arrays.get("lowest", self._lowest))
            self._fine_extents = np.array(arrays["fine_extents"])
            self.tolerances = np.array(arrays["tolerances"])
            self._tolerances_given = bool(arrays["tolerances_given"])
        self._refill_board()
