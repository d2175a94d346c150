"""A tabular model: numbered states and actions, and what each action may lead to."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int


@dataclass(frozen=True, eq=False)
class TabularModel:
    """What happens in each state under each action, one row for each possible outcome.

    States are numbered from 0. A pair (state, action) without a row is not available. A state
    without any row ends the episode: nothing is received in it. Rows may come in any order, and
    an outcome may have several; the model keeps one for each, sorted by state and action.
    """

    start: Float[np.ndarray, " state"]
    """Probability that an episode begins in each state."""
    states: Int[np.ndarray, " row"]
    actions: Int[np.ndarray, " row"]
    next_states: Int[np.ndarray, " row"]
    """Where the episode goes on; without a meaning where it terminates."""
    terminated: Bool[np.ndarray, " row"]
    probabilities: Float[np.ndarray, " row"]
    """Given state and action; those of a pair sum to one."""
    rewards: Float[np.ndarray, "row objective"]
    """Mean reward of each outcome."""

    def __post_init__(self) -> None:
        outcomes = (self.terminated, self.next_states, self.actions, self.states)
        order = np.lexsort(outcomes)
        new = np.ones(len(order), dtype=bool)
        new[1:] = np.any([np.diff(column[order].astype(np.int64)) for column in outcomes], axis=0)
        first = np.flatnonzero(new)
        for name in ("states", "actions", "next_states", "terminated"):
            object.__setattr__(self, name, getattr(self, name)[order[first]])
        if len(first):
            weights = self.probabilities[order]
            sums = np.add.reduceat(weights, first)
            weighted = np.add.reduceat(weights[:, None] * self.rewards[order], first, axis=0)
            means = weighted / np.where(sums > 0, sums, 1.0)[:, None]
            object.__setattr__(self, "probabilities", sums)
            object.__setattr__(self, "rewards", means)
        if not np.isclose(self.start.sum(), 1.0):
            raise ValueError(f"start must sum to 1, got {self.start.sum()}")
        if (self.probabilities < 0).any() or (self.start < 0).any():
            raise ValueError("probabilities must not be negative")
        going_on = self.next_states[~self.terminated]
        for numbers in (self.states, going_on):
            if len(numbers) and (numbers.min() < 0 or numbers.max() >= self.num_states):
                raise ValueError(f"states must be numbered from 0 to {self.num_states - 1}")
        if not np.allclose(np.bincount(self.row_pairs, self.probabilities), 1.0):
            raise ValueError("the probabilities of each state and action must sum to 1")

    @property
    def num_states(self) -> int:
        """How many states there are."""
        return len(self.start)

    @property
    def num_objectives(self) -> int:
        """How many numbers a reward has."""
        return self.rewards.shape[1]

    @property
    def num_pairs(self) -> int:
        """How many pairs of a state and an action are available."""
        return len(self.pair_rows)

    @cached_property
    def pair_rows(self) -> Int[np.ndarray, " pair"]:
        """The first row of each pair (state, action)."""
        new = np.ones(len(self.states), dtype=bool)
        new[1:] = (np.diff(self.states) != 0) | (np.diff(self.actions) != 0)
        return np.flatnonzero(new)

    @cached_property
    def row_pairs(self) -> Int[np.ndarray, " row"]:
        """The pair that each row belongs to."""
        counts = np.diff(np.append(self.pair_rows, len(self.states)))
        return np.repeat(np.arange(self.num_pairs), counts)

    @cached_property
    def pair_states(self) -> Int[np.ndarray, " pair"]:
        """The state of each pair."""
        return self.states[self.pair_rows]

    @cached_property
    def pair_actions(self) -> Int[np.ndarray, " pair"]:
        """The action of each pair."""
        return self.actions[self.pair_rows]

    @cached_property
    def pair_rewards(self) -> Float[np.ndarray, "pair objective"]:
        """The mean reward of each pair, over all its outcomes."""
        if self.num_pairs == 0:
            return np.zeros((0, self.num_objectives))
        weighted = self.probabilities[:, None] * self.rewards
        return np.add.reduceat(weighted, self.pair_rows, axis=0)

    @cached_property
    def state_pairs(self) -> Int[np.ndarray, " boundary"]:
        """State s has the pairs from `state_pairs[s]` up to and without `state_pairs[s + 1]`."""
        return np.searchsorted(self.pair_states, np.arange(self.num_states + 1))

    @cached_property
    def successor_rows(self) -> Int[np.ndarray, " successor"]:
        """The rows after which the episode goes on with some probability."""
        return np.flatnonzero(~self.terminated & (self.probabilities > 0))

    @cached_property
    def pair_successors(self) -> Int[np.ndarray, " boundary"]:
        """Where the successors of each pair begin in `successor_rows`; the last one is the end."""
        pairs = self.row_pairs[self.successor_rows]
        return np.searchsorted(pairs, np.arange(self.num_pairs + 1))
