"""Counts of transitions: what each action led to, where observations repeat."""

import math
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, PyTree, UInt64

from pcn.episodes import Episodes
from pcn.fingerprints import fingerprints

MOST_BYTES = 1 << 26
"""Memory that the observations of all states may take."""
_MOST_STATES = 1 << 20
"""A row's key has room for so many states."""
_GOES_ON, _TERMINATED, _AT_THE_LIMIT = range(3)


class TransitionCounts:
    """How often each (state, action, next state, terminated) was seen, and its rewards.

    Equal observations are one state; states are numbered in the order of their arrival. Where
    observations hardly repeat, counting is given up: there is no table to fill then.

    An end that comes when no episode was ever longer may be a time limit that an observation does
    not show. Such ends are counted apart, and decided once more is known.
    """

    def __init__(
        self,
        example: PyTree[np.ndarray],
        action_sizes: tuple[int, ...],
        num_objectives: int,
        *,
        mask_size: int = 0,
        most_states: int = 20_000,
        window: int = 4096,
        most_new: float = 0.5,
    ) -> None:
        """No counts yet.

        Args:
            example: an observation, as `Episodes` hold it.
            action_sizes: how many choices each part of an action has.
            num_objectives: how many numbers a reward has.
            mask_size: how many entries an action mask has; 0 where there are none.
            most_states: counting is given up beyond this many states.
            window: so many steps at least are looked at together.
            most_new: counting is given up when a larger share of them led to new states.
        """
        leaves, self._structure = jax.tree.flatten(example)
        self.action_sizes = action_sizes
        """How many choices each part of an action has."""
        self._most_states = min(most_states, _MOST_STATES)
        self._window, self._most_new = window, most_new
        self._num_objectives, self._mask_size = num_objectives, mask_size
        self._leaves = [np.zeros((0, *leaf.shape), leaf.dtype) for leaf in leaves]
        self._window_steps = self._window_states = 0
        self.given_up = False
        """Whether observations hardly repeat; there are no counts then."""
        self._clear()

    def _clear(self) -> None:
        self._leaves = [leaf[:0] for leaf in self._leaves]
        self.longest = 0
        """Steps of the longest episode."""
        self.masks: Bool[np.ndarray, "state choice"] = np.zeros((0, self._mask_size), bool)
        """Which actions are allowed in each state."""
        self.limits: Bool[np.ndarray, " state"] = np.zeros(0, bool)
        """In which states an episode was truncated; others may have gone on from there."""
        self._prints = np.zeros(0, np.uint64)
        self._numbers = np.zeros(0, np.int64)
        self.starts: Int[np.ndarray, " state"] = np.zeros(0, np.int64)
        """How many episodes began in each state."""
        self._keys = np.zeros(0, np.int64)
        self.visits: Int[np.ndarray, " row"] = np.zeros(0, np.int64)
        self.sums: Float[np.ndarray, "row objective"] = np.zeros((0, self._num_objectives))
        """Sum of the rewards of each row."""
        self.squares: Float[np.ndarray, "row objective"] = np.zeros((0, self._num_objectives))
        """Sum of their squares."""

    @property
    def num_states(self) -> int:
        """How many different observations were seen."""
        return len(self._prints)

    @property
    def num_actions(self) -> int:
        """How many different actions there are."""
        return int(np.prod(self.action_sizes))

    @property
    def observations(self) -> PyTree[np.ndarray]:
        """The observation of each state; each leaf [state, ...]."""
        return jax.tree.unflatten(self._structure, self._leaves)

    def numbers(self) -> Float[np.ndarray, "state number"]:
        """The observation of each state as numbers in a row."""
        rows = [leaf.reshape(len(leaf), math.prod(leaf.shape[1:])) for leaf in self._leaves]
        return np.column_stack(rows).astype(np.float64)

    @property
    def states(self) -> Int[np.ndarray, " row"]:
        """The state of each row; rows are sorted by state, action and next state."""
        return (self._keys >> 22) // self.num_actions

    @property
    def actions(self) -> Int[np.ndarray, " row"]:
        """The action of each row, all parts as one number; see `action_rows`."""
        return (self._keys >> 22) % self.num_actions

    @property
    def next_states(self) -> Int[np.ndarray, " row"]:
        """The next state of each row."""
        return (self._keys >> 2) & (_MOST_STATES - 1)

    @property
    def went_on(self) -> Bool[np.ndarray, " row"]:
        """Whether no episode ended in the next state, as far as its row tells."""
        went_on: Bool[np.ndarray, " row"] = self._keys & 3 == _GOES_ON
        return went_on

    @property
    def terminated(self) -> Bool[np.ndarray, " row"]:
        """Whether the episode terminated in the next state.

        At the end of a longest episode it did only if it also did so earlier in others, or if
        nobody ever acted in the next state.
        """
        kinds = self._keys & 3
        elsewhere = np.isin(self._keys >> 2, self._keys[kinds == _TERMINATED] >> 2)
        acted = np.zeros(self.num_states, bool)
        acted[self.states] = True
        real = elsewhere | ~acted[self.next_states]
        return (kinds == _TERMINATED) | ((kinds == _AT_THE_LIMIT) & real)

    def action_rows(self, numbers: Int[np.ndarray, "*action"]) -> Int[np.ndarray, "*action part"]:
        """Actions as rows with a number for each part."""
        parts = np.unravel_index(numbers, self.action_sizes)
        return np.stack(parts, axis=-1).astype(np.int32)

    def states_of(
        self, observations: PyTree[Any], num_steps: int
    ) -> Int[np.ndarray, "episode time"]:
        """The states of the first steps of episodes; -1 for observations never seen."""
        leaves = [np.asarray(leaf)[:, :num_steps] for leaf in jax.tree.leaves(observations)]
        prints = fingerprints(leaves, num_steps)
        if self.num_states == 0:
            return np.full(prints.shape, -1)
        place = np.searchsorted(self._prints, prints)
        place = np.minimum(place, self.num_states - 1)
        return np.where(self._prints[place] == prints, self._numbers[place], -1)

    def add(self, episodes: Episodes) -> None:
        """Count all steps of the real episodes, broken off or not."""
        rows = np.flatnonzero(np.asarray(episodes.real_mask))
        if self.given_up or len(rows) == 0 or episodes.last_observations is None:
            return
        lengths = np.asarray(episodes.lengths)[rows]
        num_steps = int(lengths.max())
        leaves, last_leaves = map(
            jax.tree.leaves, (episodes.observations, episodes.last_observations)
        )
        seen = [np.asarray(leaf)[rows, :num_steps] for leaf in leaves]
        last = [np.asarray(leaf)[rows, None] for leaf in last_leaves]
        prints, last_prints = fingerprints(seen, num_steps), fingerprints(last, 1)
        valid = np.arange(num_steps) < lengths[:, None]
        self._add_states(prints[valid], [leaf[valid] for leaf in seen])
        self._add_states(last_prints[:, 0], [leaf[:, 0] for leaf in last])
        if self._give_up(int(lengths.sum())):
            return
        now, after = self._numbered(prints), np.empty(prints.shape, np.int64)
        after[:, :-1] = now[:, 1:]
        ends = np.arange(len(rows)), lengths - 1
        after[ends] = self._numbered(last_prints)[:, 0]
        self.longest = max(self.longest, num_steps)
        kinds = np.zeros(prints.shape, np.int64)
        kind = np.where(lengths == self.longest, _AT_THE_LIMIT, _TERMINATED)
        terminated = np.asarray(episodes.terminated)[rows]
        kinds[ends] = np.where(terminated, kind, _GOES_ON)
        self.limits[after[ends][np.asarray(episodes.ended)[rows] & ~terminated]] = True
        np.add.at(self.starts, now[:, 0], 1)
        if episodes.action_masks is not None:
            # An observation may hide what is allowed: what was allowed once, may be planned with.
            allowed = np.asarray(episodes.action_masks)[rows, :num_steps][valid]
            np.logical_or.at(self.masks, now[valid], allowed)
        parts = np.moveaxis(np.asarray(episodes.actions)[rows, :num_steps][valid], -1, 0)
        actions = np.ravel_multi_index(tuple(parts), self.action_sizes)
        keys = (now[valid] * self.num_actions + actions) << 22
        keys |= (after[valid] << 2) | kinds[valid]
        rewards = np.asarray(episodes.rewards)[rows, :num_steps][valid].astype(np.float64)
        self._add_rows(keys, rewards)

    def _numbered(self, prints: UInt64[np.ndarray, "*shape"]) -> Int[np.ndarray, "*shape"]:
        """The states with these fingerprints, all of which are known or padding."""
        place = np.minimum(np.searchsorted(self._prints, prints), self.num_states - 1)
        return self._numbers[place]

    def _add_states(self, prints: UInt64[np.ndarray, " step"], leaves: list[np.ndarray]) -> None:
        """Number the observations that are new."""
        new, first = np.unique(prints, return_index=True)
        place = np.searchsorted(self._prints, new)
        known = place < self.num_states
        known[known] = self._prints[place[known]] == new[known]
        if known.all():
            return
        new, first, place = new[~known], first[~known], place[~known]
        numbers = self.num_states + np.arange(len(new))
        self._prints = np.insert(self._prints, place, new)
        self._numbers = np.insert(self._numbers, place, numbers)
        self.starts = np.append(self.starts, np.zeros(len(new), np.int64))
        self.limits = np.append(self.limits, np.zeros(len(new), bool))
        self._leaves = [
            np.concatenate([old, leaf[first]])
            for old, leaf in zip(self._leaves, leaves, strict=True)
        ]
        self.masks = np.concatenate([self.masks, np.zeros((len(new), self._mask_size), bool)])

    def _give_up(self, num_steps: int) -> bool:
        """Stop counting where new observations keep coming as fast as steps are taken."""
        self._window_steps += num_steps
        new = self.num_states - self._window_states
        num_bytes = sum(leaf.nbytes for leaf in self._leaves)
        self.given_up = self.num_states > self._most_states or num_bytes > MOST_BYTES
        if self._window_steps >= self._window:
            self.given_up |= new > self._most_new * self._window_steps
            self._window_steps, self._window_states = 0, self.num_states
        if self.given_up:
            self._clear()
        return self.given_up

    def _add_rows(
        self, keys: Int[np.ndarray, " step"], rewards: Float[np.ndarray, "step objective"]
    ) -> None:
        found, inverse = np.unique(keys, return_inverse=True)
        visits = np.bincount(inverse)
        sums, squares = (
            np.stack([np.bincount(inverse, column) for column in values.T], axis=1)
            for values in (rewards, rewards**2)
        )
        place = np.searchsorted(self._keys, found)
        known = place < len(self._keys)
        known[known] = self._keys[place[known]] == found[known]
        at = place[known]
        self.visits[at] += visits[known]
        self.sums[at] += sums[known]
        self.squares[at] += squares[known]
        if not known.all():
            at = place[~known]
            self._keys = np.insert(self._keys, at, found[~known])
            self.visits = np.insert(self.visits, at, visits[~known])
            self.sums = np.insert(self.sums, at, sums[~known], axis=0)
            self.squares = np.insert(self.squares, at, squares[~known], axis=0)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything counted, as named arrays."""
        progress = [self.given_up, self.longest, self._window_steps, self._window_states]
        return {
            **{f"observations.{number}": leaf for number, leaf in enumerate(self._leaves)},
            **{name: getattr(self, name) for name in ("masks", "starts", "limits", *_ROWS)},
            **{name: getattr(self, f"_{name}") for name in _PRIVATE},
            "progress": np.array(progress, np.int64),
        }

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self._leaves = [
            np.array(arrays[f"observations.{number}"]) for number in range(len(self._leaves))
        ]
        for name in ("masks", "starts", *_ROWS):
            setattr(self, name, np.array(arrays[name]))
        # Older checkpoints have no limits.
        self.limits = np.array(arrays.get("limits", np.zeros(len(self.starts), bool)))
        for name in _PRIVATE:
            setattr(self, f"_{name}", np.array(arrays[name]))
        given_up, self.longest, *window = arrays["progress"].tolist()
        self.given_up = bool(given_up)
        self._window_steps, self._window_states = window


_ROWS = ("visits", "sums", "squares")
_PRIVATE = ("prints", "numbers", "keys")
