"""Who returns more: agents that act by values, or PCN's own episodes."""

import numpy as np

from pcn.algorithms.pcn.refinements.valued.contest import FEWEST, LATEST, Contest
from pcn.episodes import Episodes


def one_step_episodes(returns):
    """Episodes of one step, which return that."""
    count = len(returns)
    rewards = returns[:, None].astype(np.float32)
    one = np.ones(count, np.int32)
    return Episodes(np.zeros((count, 1, 1), np.float32), one[:, None, None], rewards, one, one == 1)


def contest(own, others):
    one = Contest(2)
    one.note_own(one_step_episodes(own), 1.0)
    one.note_others(one_step_episodes(others), 1.0)
    return one


def test_the_larger_mean_is_ahead_and_not_the_luckier_best():
    sure = np.tile([[2.0, 0.0], [0.0, 2.0]], (20, 1))
    lucky = np.zeros((40, 2))
    lucky[:2] = 9.0  # two in forty win: .45 each
    assert contest(sure, lucky).is_ahead()
    assert not contest(lucky, sure).is_ahead()


def test_units_do_not_matter():
    own, others = np.tile([3.0, 1.0], (20, 1)), np.tile([1.0, 2.0], (20, 1))
    own[::2] += 1.0
    for factor in (1e-3, 1.0, 1e3):
        scale = np.array([factor, 1.0])
        assert contest(own * scale, others * scale).is_ahead() == contest(own, others).is_ahead()


def test_too_few_episodes_decide_nothing():
    rich, poor = np.ones((FEWEST, 2)), np.zeros((FEWEST, 2))
    assert contest(poor[1:], rich).is_ahead()
    assert not contest(poor, rich).is_ahead()


def test_only_the_latest_episodes_count():
    rich, poor = np.ones((LATEST, 2)), np.zeros((LATEST, 2))
    one = contest(poor, 0.5 * rich)
    assert not one.is_ahead()
    one.note_own(one_step_episodes(rich), 1.0)
    assert one.is_ahead()
    again = Contest(2)
    again.from_arrays(one.to_arrays())
    assert again.is_ahead()
