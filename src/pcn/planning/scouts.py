"""Scouts: the way to what was hardly tried, by counts of transitions."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.planning.counting import TransitionCounts

_PATIENCE = 0.99
"""Factor on the probability of arriving, for each step: of two ways the shorter one is taken."""
_SETTLED = 1e-4
"""Probabilities that change by no more than this do not change any more."""


class Goals(NamedTuple):
    """Pairs of a state and an action that were hardly tried."""

    states: Int[np.ndarray, " goal"]
    actions: Int[np.ndarray, " goal"]
    visits: Int[np.ndarray, " goal"]
    """How often each was tried."""

    def chosen(self, index: Int[np.ndarray, " some"]) -> "Goals":
        """Some of the goals."""
        return Goals(self.states[index], self.actions[index], self.visits[index])


class Ways(NamedTuple):
    """How to get to some goals."""

    chances: Float[np.ndarray, " goal"]
    """How likely an episode arrives; less for long ways."""
    actions: Int[np.ndarray, "goal state"]
    """What to do in each state; -1 where no way is known."""

    def num_steps(self) -> Float[np.ndarray, " goal"]:
        """How long each way is if nothing goes wrong; longer the likelier something does."""
        likely = np.maximum(self.chances, np.finfo(float).tiny)
        return np.log(likely) / np.log(_PATIENCE)


def hardly_tried(
    counts: TransitionCounts,
    allowed: Bool[np.ndarray, "state action"] | None = None,
    *,
    most_visits: int,
    kinds: Int[np.ndarray, " state"] | None = None,
) -> Goals:
    """All actions that were tried fewer times, in states in which somebody has acted.

    Args:
        counts: what was seen.
        allowed: which actions are allowed in each state; None for all.
        most_visits: what was tried so often is known.
        kinds: states of one kind share their visits; None where each state has its own.
    """
    shape = (counts.num_states, counts.num_actions)
    pairs = counts.states * counts.num_actions + counts.actions
    visits = np.bincount(pairs, counts.visits, minlength=shape[0] * shape[1]).reshape(shape)
    acted = visits.sum(axis=1) > 0
    if kinds is not None:
        shared = np.zeros((int(kinds.max(initial=-1)) + 1, shape[1]))
        np.add.at(shared, kinds, visits)
        visits = shared[kinds]
    wanted = (visits < most_visits) & acted[:, None]
    if allowed is not None:
        wanted &= allowed
    states, actions = np.nonzero(wanted)
    return Goals(states, actions, visits[states, actions].astype(np.int64))


def drawn_kinds(
    numbers: Float[np.ndarray, "state number"], rng: np.random.Generator
) -> Int[np.ndarray, " state"] | None:
    """The kind of each state: those of one kind are equal in some numbers, which are drawn.

    Each number of the observations counts with probability 1/2. None where all of them count.
    """
    counting = np.asarray(rng.random(numbers.shape[1]) < 0.5)
    if counting.all() or not counting.any():
        return None
    kinds: Int[np.ndarray, " state"]
    _, kinds = np.unique(numbers[:, counting], axis=0, return_inverse=True)
    return kinds.ravel()


def ways_to(counts: TransitionCounts, goals: Goals) -> Ways:
    """In each state the action that makes arriving likeliest, for each goal, as far as is known."""
    from scipy.sparse import csr_matrix  # few trainings need it, and it takes a while

    states, actions, count = counts.states, counts.actions, len(goals.states)
    new = (np.diff(states) != 0) | (np.diff(actions) != 0)
    pairs = np.cumsum(np.append(0, new))
    first = np.flatnonzero(np.append(True, new))
    pair_states, pair_actions = states[first], actions[first]
    totals = np.add.reduceat(counts.visits, first)
    goes_on = ~counts.terminated
    probabilities = counts.visits[goes_on] / totals[pairs[goes_on]]
    places = pairs[goes_on], counts.next_states[goes_on]
    following = csr_matrix((probabilities, places), shape=(len(first), counts.num_states))
    begin = np.flatnonzero(np.append(True, np.diff(pair_states) != 0))
    acting = pair_states[begin]
    arrived = goals.states, np.arange(count)
    chances = np.zeros((counts.num_states, count))
    chances[arrived] = 1.0
    for _ in range(counts.longest):
        of_pairs = _PATIENCE * (following @ chances)
        after = np.zeros_like(chances)
        after[acting] = np.maximum.reduceat(of_pairs, begin, axis=0)
        after[arrived] = 1.0
        change = np.abs(after - chances).max(initial=0.0)
        chances = after
        if change <= _SETTLED:
            break
    of_pairs = _PATIENCE * (following @ chances)
    best = np.repeat(np.maximum.reduceat(of_pairs, begin, axis=0), np.diff([*begin, len(first)]), 0)
    candidates = np.where(
        (of_pairs >= best) & (best > 0), np.arange(len(first))[:, None], len(first)
    )
    chosen = np.minimum.reduceat(candidates, begin, axis=0)
    ways = np.full((counts.num_states, count), -1)
    ways[acting] = np.append(pair_actions, -1)[chosen]
    ways[arrived] = goals.actions
    return Ways(counts.starts @ chances / max(counts.starts.sum(), 1), ways.T)
