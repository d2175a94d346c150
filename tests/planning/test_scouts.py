"""Ways to what was hardly tried, against all policies of small worlds."""

from itertools import product

import numpy as np
import pytest

from pcn.planning.counting import TransitionCounts
from pcn.planning.scouts import Goals, drawn_kinds, hardly_tried, ways_to
from random_walks import random_walks

PATIENCE = 0.99


def counted(seed, **options):
    """Random walks on a few places, with six actions."""
    counts = TransitionCounts({"place": np.zeros(1, np.int32)}, (2, 3), 2)
    counts.add(random_walks(np.random.default_rng(seed), **options))
    return counts


def visits_of(counts):
    visits = np.zeros((counts.num_states, counts.num_actions), int)
    np.add.at(visits, (counts.states, counts.actions), counts.visits)
    return visits


def test_what_was_tried_less_often_is_found_with_its_visits():
    counts = counted(0)
    visits = visits_of(counts)
    goals = hardly_tried(counts, most_visits=2)
    expected = {
        (state, action): visits[state, action]
        for state, action in product(range(counts.num_states), range(6))
        if visits[state].any() and visits[state, action] < 2
    }
    found = zip(goals.states.tolist(), goals.actions.tolist(), strict=True)
    assert dict(zip(found, goals.visits.tolist(), strict=True)) == expected


def test_states_in_which_nobody_acted_are_no_goals():
    counts = counted(1, num_episodes=3, limit=2, num_places=50)
    acted = set(counts.states.tolist())
    assert len(acted) < counts.num_states
    assert set(hardly_tried(counts, most_visits=5).states.tolist()) == acted


def test_forbidden_actions_are_no_goals():
    counts = counted(0)
    allowed = np.zeros((counts.num_states, 6), bool)
    allowed[:, 4] = True
    assert set(hardly_tried(counts, allowed, most_visits=100).actions.tolist()) == {4}


def test_states_of_a_kind_share_what_was_tried():
    counts = counted(0)
    visits, kinds = visits_of(counts), np.arange(counts.num_states) % 2
    shared = np.array([visits[kinds == kind].sum(axis=0) for kind in (0, 1)])
    goals = hardly_tried(counts, most_visits=3, kinds=kinds)
    expected = {
        (state, action): shared[kinds[state], action]
        for state, action in product(range(counts.num_states), range(6))
        if visits[state].any() and shared[kinds[state], action] < 3
    }
    found = zip(goals.states.tolist(), goals.actions.tolist(), strict=True)
    assert expected
    assert dict(zip(found, goals.visits.tolist(), strict=True)) == expected


def test_kinds_are_equal_in_some_numbers():
    numbers = np.array(list(product(range(3), range(4), range(5))), float)
    drawn = [drawn_kinds(numbers, np.random.default_rng(seed)) for seed in range(40)]
    sizes = {None if kinds is None else len(np.unique(kinds)) for kinds in drawn}
    assert sizes == {None, 3, 4, 5, 12, 15, 20}
    for kinds in (some for some in drawn if some is not None):
        for kind in np.unique(kinds):
            alike = (np.ptp(numbers[kinds == kind], axis=0) == 0).sum()
            assert alike > 0


def reached(counts, policy, goal):
    """Discounted probability to get to the goal under a policy, by linear equations."""
    transition = np.zeros((counts.num_states, counts.num_states))
    totals = visits_of(counts)
    for row in np.flatnonzero(~counts.terminated):
        state, action = counts.states[row], counts.actions[row]
        if policy[state] == action:
            share = counts.visits[row] / totals[state, action]
            transition[state, counts.next_states[row]] += PATIENCE * share
    transition[goal] = 0
    arrived = np.eye(counts.num_states)[goal]
    return np.linalg.solve(np.eye(counts.num_states) - transition, arrived)


@pytest.mark.parametrize("seed", range(3))
def test_no_policy_arrives_more_likely(seed):
    counts = counted(seed, num_episodes=6, limit=8, num_places=3)
    visits = visits_of(counts)
    known = [np.flatnonzero(row).tolist() or [0] for row in visits]
    goals = hardly_tried(counts, most_visits=2)
    counts.longest = 2000  # so that the way may be as long as it takes
    ways = ways_to(counts, goals)
    begin = counts.starts / counts.starts.sum()
    for number, goal in enumerate(goals.states):
        best = max(begin @ reached(counts, policy, goal) for policy in product(*known))
        assert ways.chances[number] == pytest.approx(best, abs=0.02)
        own = np.where(ways.actions[number] >= 0, ways.actions[number], [row[0] for row in known])
        assert begin @ reached(counts, own, goal) == pytest.approx(best, abs=0.02)
        assert ways.actions[number, goal] == goals.actions[number]


def test_no_way_is_known_to_where_nobody_has_come_from_a_state():
    """One episode from 0 to 1 to its end in 2: there is no way back."""
    counts = TransitionCounts({"place": np.zeros(1, np.int32)}, (2, 3), 2)
    episode = random_walks(np.random.default_rng(0), num_episodes=1, fillers=0, limit=3)
    places = np.arange(3, dtype=np.int32)[None, :, None]
    counts.add(
        episode.__class__(
            {"place": places}, np.zeros((1, 3, 2), np.int32), np.zeros((1, 3, 2), np.float32),
            np.array([3], np.int32), np.array([True]), real_mask=np.array([True]),
            last_observations={"place": np.array([[3]], np.int32)},
        )
    )  # fmt: skip
    start, last = int(counts.starts.argmax()), int(counts.states[counts.next_states == 3][0])
    ways = ways_to(counts, Goals(np.array([start]), np.array([5]), np.array([0])))
    assert ways.chances.tolist() == [1.0]
    assert ways.actions[0, start] == 5
    assert ways.actions[0, last] == -1
