"""Clocks: numbers of an observation that only count the steps of an episode.

Where the time is observed, every step of an episode leads to other states, and what was seen in the
same situation a step earlier says nothing about them. If effects do not depend on the time, all
steps in one situation are pooled, whenever they were taken.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.planning.counting import TransitionCounts

FIRST_ROWS = 100
"""Rows that most numbers which are no clocks are told by."""
FEWEST_ROWS = 20
"""In fewer rows a number may look like a clock by chance."""
SLACK = 0.1
"""Share by which differences between times may exceed those by chance: returns are no Gaussians."""
MOST_ROWS = 1_000_000
"""With more rows than this nothing is pooled."""
_SAME = 1e-3
"""Share of a clock's step that rounding may change it by."""


@dataclass(frozen=True)
class PooledCounts:
    """Counts of transitions as `TransitionCounts` has them, with what was seen at all times."""

    num_states: int
    starts: Int[np.ndarray, " state"]
    states: Int[np.ndarray, " row"]
    actions: Int[np.ndarray, " row"]
    next_states: Int[np.ndarray, " row"]
    terminated: Bool[np.ndarray, " row"]
    visits: Int[np.ndarray, " row"]
    sums: Float[np.ndarray, "row objective"]
    squares: Float[np.ndarray, "row objective"]


def pooled_over_time(
    counts: TransitionCounts, *, errors: float = 4.0
) -> TransitionCounts | PooledCounts:
    """The counts of all times together, for each time; the counts themselves without a clock.

    They are also returned if rewards, effects or ends depend on the time: if the differences
    between times are larger than chance makes them, by so many standard errors.
    """
    masks_fit = counts.masks.shape[1] in (0, sum(counts.action_sizes))
    if counts.num_states == 0 or len(counts.visits) == 0 or not masks_fit:
        return counts
    shown = counts.numbers()
    if _stands_still(counts, shown):
        return counts
    times = _times(counts, shown)
    if times is None:
        return counts
    clock, time = times
    _, situations = np.unique(shown[:, ~clock], axis=0, return_inverse=True)
    situations = situations.ravel()
    if _depends_on_time(counts, situations, shown[:, ~clock], errors):
        return counts
    return _pooled(counts, situations, time)


def last_states(counts: TransitionCounts) -> Bool[np.ndarray, " state"]:
    """States that show the time at which episodes are truncated: nothing comes after them.

    Nobody ever acts there. Without a clock such a state may be reached earlier, too.
    """
    times = None if counts.num_states == 0 else _times(counts, counts.numbers())
    if times is None:
        return np.zeros(counts.num_states, bool)
    _, time = times
    last: Bool[np.ndarray, " state"] = counts.limits & (time == time.max())
    return last


def _stands_still(counts: TransitionCounts, shown: Float[np.ndarray, "state part"]) -> bool:
    """Whether some of the first steps leave each part of an observation as it is.

    Then none is a clock, which is found out sooner than which ends of episodes are real.
    """
    rows = np.flatnonzero(counts.went_on)[:FIRST_ROWS]
    states, following = counts.states[rows], counts.next_states[rows]
    return bool(np.all(np.any(shown[states] == shown[following], axis=0)))


def _times(
    counts: TransitionCounts, shown: Float[np.ndarray, "state part"]
) -> tuple[Bool[np.ndarray, " part"], Int[np.ndarray, " state"]] | None:
    """Which parts are clocks, and the time of each state; None without a clock."""
    going = np.flatnonzero(~counts.terminated)
    states, following = counts.states[going], counts.next_states[going]
    if len(going) < FEWEST_ROWS:
        return None
    clock = np.ones(shown.shape[1], bool)
    begun = shown[counts.starts > 0]
    for number in (FIRST_ROWS, len(going)):
        parts = np.flatnonzero(clock)
        steps = shown[following[:number]][:, parts] - shown[states[:number]][:, parts]
        same = np.all(np.abs(steps - steps[0]) <= _SAME * np.abs(steps[0]), axis=0)
        clock[parts] = same & (steps[0] != 0) & (np.ptp(begun[:, parts], axis=0) == 0)
        if not clock.any():
            return None
    part = int(np.flatnonzero(clock)[0])
    step = shown[following[0], part] - shown[states[0], part]
    return clock, np.round((shown[:, part] - begun[0, part]) / step).astype(np.int64)


def _depends_on_time(
    counts: TransitionCounts,
    situations: Int[np.ndarray, " state"],
    rest: Float[np.ndarray, "state part"],
    errors: float,
) -> bool:
    """Whether means at different times differ by more than chance, over all situations together.

    This is an analysis of variance of rewards, of changes of the observation, and of ends.
    """
    states, number = counts.states, counts.visits[:, None].astype(np.float64)
    changes = rest[counts.next_states] - rest[states]
    changes[counts.terminated] = 0.0
    facts = np.column_stack([changes, counts.terminated])
    sums = np.column_stack([counts.sums, number * facts])
    squares = np.column_stack([counts.squares, number * facts**2])
    pairs, pair = np.unique(states * counts.num_actions + counts.actions, return_inverse=True)
    there = situations[pairs // counts.num_actions] * counts.num_actions
    _, group = np.unique(there + pairs % counts.num_actions, return_inverse=True)

    def added(which: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(which.ravel(), column) for column in values.T], axis=1)

    n, total, square = (added(pair, values) for values in (number, sums, squares))
    all_n, all_total = added(group, n), added(group, total)
    num_times = added(group, np.ones_like(n))
    between = added(group, total**2 / n) - all_total**2 / all_n
    within = added(group, square - total**2 / n)
    # Each situation has a variance of its own; some have too few steps to tell.
    free = all_n - num_times
    told = np.flatnonzero((free[:, 0] >= FEWEST_ROWS) & (num_times[:, 0] > 1))
    if len(told) == 0:
        return True
    variance = np.maximum(within[told], 0.0) / free[told]
    expected = (variance * (num_times[told] - 1)).sum(axis=0)
    # Of the sum of squares between times, and of the variance that is estimated.
    deviation = np.sqrt(
        (2 * variance**2 * (num_times[told] - 1) * (1 + (num_times[told] - 1) / free[told])).sum(
            axis=0
        )
    )
    rounding = 1e-9 * square.sum(axis=0)
    limit = (1 + SLACK) * expected + errors * deviation + rounding
    return bool(np.any(between[told].sum(axis=0) > limit))


def _pooled(
    counts: TransitionCounts,
    situations: Int[np.ndarray, " state"],
    time: Int[np.ndarray, " state"],
) -> TransitionCounts | PooledCounts:
    num_situations, last = int(situations.max()) + 1, int(time.max())
    state_at = np.full((num_situations, last + 2), -1)
    state_at[situations, time] = np.arange(counts.num_states)
    # What may follow each action in each situation, whenever it was.
    here, after = situations[counts.states], situations[counts.next_states]
    after = np.where(counts.terminated, 0, after)
    keys = np.stack([here, counts.actions, after, counts.terminated], axis=1)
    rows, which = np.unique(keys, axis=0, return_inverse=True)
    which = which.ravel()
    visits = np.bincount(which, counts.visits).astype(np.int64)
    sums, squares = (
        np.stack([np.bincount(which, column) for column in values.T], axis=1)
        for values in (counts.sums, counts.squares)
    )
    # The same at every time at which the situation is known and an action can follow.
    begins = np.searchsorted(rows[:, 0], np.arange(num_situations + 1))
    acting = np.flatnonzero(time < last)
    num_rows = np.diff(begins)[situations[acting]]
    if num_rows.sum() > MOST_ROWS:
        return counts
    states = np.repeat(acting, num_rows)
    within = np.arange(len(states)) - np.repeat(np.cumsum(num_rows) - num_rows, num_rows)
    row = begins[situations[states]] + within
    _, actions, after, terminated = rows[row].T
    ends = terminated.astype(bool)
    following = np.where(ends, states, state_at[after, time[states] + 1])
    kept = (following >= 0) & _allowed(counts, states, actions)
    states, actions, following, ends, row = (
        array[kept] for array in (states, actions, following, ends, row)
    )
    order = np.lexsort((following, actions, states))
    states, actions, following, ends, row = (
        array[order] for array in (states, actions, following, ends, row)
    )
    return PooledCounts(
        counts.num_states, counts.starts, states, actions, following, ends,
        visits[row], sums[row], squares[row],
    )  # fmt: skip


def _allowed(
    counts: TransitionCounts, states: Int[np.ndarray, " row"], actions: Int[np.ndarray, " row"]
) -> Bool[np.ndarray, " row"]:
    """Whether masks have ever allowed an action in a state."""
    if counts.masks.shape[1] == 0:
        return np.ones(len(states), bool)
    begin = np.cumsum([0, *counts.action_sizes[:-1]])
    allowed: Bool[np.ndarray, " row"] = np.all(
        counts.masks[states[:, None], counts.action_rows(actions) + begin], axis=1
    )
    return allowed
