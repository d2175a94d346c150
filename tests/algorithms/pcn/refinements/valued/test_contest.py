"""Who returns more: agents that act by values, or PCN's own commands."""

import numpy as np

from pcn.algorithms.pcn.refinements.valued.contest import FEWEST, LATEST, Contest
from pcn.episodes import Episodes

HALVES = np.repeat(np.eye(2), 20, axis=0)
"""Half of the episodes are for the first objective, half for the second one."""


def one_step_episodes(returns):
    """Episodes of one step, which return that."""
    count = len(returns)
    rewards = returns[:, None].astype(np.float32)
    one = np.ones(count, np.int32)
    return Episodes(np.zeros((count, 1, 1), np.float32), one[:, None, None], rewards, one, one == 1)


def contest(valued, commanded, weights=None, desired=None):
    one = Contest(2)
    weights = np.resize(HALVES, valued.shape) if weights is None else weights
    desired = np.resize(HALVES, commanded.shape) if desired is None else desired
    one.note_weights(weights, one_step_episodes(valued), 1.0)
    one.note_commands(desired, one_step_episodes(commanded), 1.0)
    return one


def test_sure_returns_are_ahead_of_lucky_ones():
    lucky = np.zeros((128, 2))
    lucky[8::16] = 9.0  # one in sixteen wins: .56 on average
    assert contest(2 * HALVES, lucky, desired=np.full((128, 2), 9.0)).is_ahead()


def test_those_who_get_what_they_want_are_ahead_of_those_who_get_what_others_want():
    """The means over all episodes are the same."""
    assert contest(HALVES, 1 - HALVES).is_ahead()
    assert not contest(1 - HALVES, HALVES).is_ahead()


def test_units_do_not_matter():
    for factor in (1e-3, 1e3):
        scale = np.array([factor, 1.0])
        for better in (True, False):
            valued = HALVES if better else 1 - HALVES
            scaled = contest(valued * scale, (1 - valued) * scale, desired=HALVES * scale)
            assert scaled.is_ahead() == better


def test_too_few_episodes_decide_nothing():
    rich, poor = np.ones((FEWEST, 2)), np.zeros((FEWEST, 2))
    assert contest(poor[1:], rich).is_ahead()
    assert not contest(poor, rich).is_ahead()


def test_only_the_latest_episodes_that_ended_count():
    rich, poor = np.ones((LATEST, 2)), np.zeros((LATEST, 2))
    one = contest(poor, 0.5 * rich)
    assert not one.is_ahead()
    broken = one_step_episodes(rich)
    one.note_weights(rich, Episodes(
        broken.observations, broken.actions, broken.rewards, broken.lengths, broken.terminated,
        broken_off=broken.terminated,
    ), 1.0)  # fmt: skip
    assert not one.is_ahead()
    one.note_weights(rich, broken, 1.0)
    assert one.is_ahead()
    again = Contest(2)
    again.from_arrays(one.to_arrays())
    assert again.is_ahead()
