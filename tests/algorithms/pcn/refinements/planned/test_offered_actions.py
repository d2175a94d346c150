"""Offered actions, against what numpy makes of the same numbers."""

import gymnasium as gym
import numpy as np

from pcn.algorithms.pcn.refinements.planned.offered_actions import OfferedActions
from pcn.nets.heads import action_head_for

RELEASE = gym.spaces.Box(0.0, 50.0, (1,), np.float32)


def test_all_levels_are_offered_where_there_is_room_and_else_some_with_both_bounds():
    head = action_head_for(RELEASE, levels=11)
    np.testing.assert_array_equal(OfferedActions.of(head, 100).numbers, np.arange(11))
    few = OfferedActions.of(head, 6)
    np.testing.assert_array_equal(few.numbers, [0, 2, 4, 6, 8, 10])
    np.testing.assert_allclose(few.rows(np.arange(6))[:, 0], [0, 10, 20, 30, 40, 50])
    np.testing.assert_array_equal(OfferedActions.of(head, 0).numbers, [0, 10])


def test_an_action_of_the_network_counts_as_the_nearest_offered_one():
    few = OfferedActions.of(action_head_for(RELEASE, levels=51), 6)
    rows = np.array([[0.0], [4.0], [6.0], [24.0], [26.0], [50.0]], np.float32)
    np.testing.assert_array_equal(few.nearest(rows), [0, 0, 1, 2, 3, 5])


def test_numbers_of_offered_actions_are_interpolated():
    few = OfferedActions.of(action_head_for(RELEASE, levels=11), 4)
    given = np.array([[0.0, 1.0, 0.5, 0.25], [3.0, 0.0, 0.0, 1.0]])
    expected = [np.interp(np.arange(11), few.numbers, row) for row in given]
    np.testing.assert_allclose(few.for_all(given), expected)


def test_amounts_are_one_number_and_choices_one_for_each():
    amounts = OfferedActions.of(action_head_for(RELEASE, levels=5), 100)
    assert amounts.are_amounts
    np.testing.assert_allclose(amounts.features, [[-1.0], [-0.5], [0.0], [0.5], [1.0]])
    choices = OfferedActions.of(action_head_for(gym.spaces.Discrete(3)), 2)
    assert not choices.are_amounts
    np.testing.assert_array_equal(choices.features, np.eye(3))
    np.testing.assert_array_equal(choices.numbers, [0, 1, 2])


def test_options_are_whole_actions_unless_there_are_parts_or_places_within_a_bin():
    whole = [gym.spaces.Discrete(3), RELEASE]
    assert all(OfferedActions.of(action_head_for(space), 9).are_all_there_is for space in whole)
    parts = [
        action_head_for(gym.spaces.MultiDiscrete([2, 3])),
        action_head_for(RELEASE, continuous="bins", levels=5),
    ]
    assert not any(OfferedActions.of(head, 9).are_all_there_is for head in parts)


def test_actions_of_several_parts_are_offered_one_by_one():
    both = OfferedActions.of(action_head_for(gym.spaces.MultiDiscrete([2, 3])), 2)
    rows = both.rows(np.arange(6))
    np.testing.assert_array_equal(rows, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]])
    np.testing.assert_array_equal(both.nearest(rows), np.arange(6))
