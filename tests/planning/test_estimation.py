"""Models from counts: dangers that many steps share are known from all of them."""

import numpy as np

from pcn.planning.estimation import pooled_end_factors


def shares(visits, ends, rewards, *, errors=2.5):
    """The probability of the end of each pair; each has a row that goes on and one that ends."""
    visits, ends = np.array(visits), np.array(ends)
    row_visits = np.column_stack([visits - ends, ends]).ravel()
    row_rewards = np.column_stack([np.zeros(len(visits)), rewards]).reshape(-1, 1)
    pairs = np.repeat(np.arange(len(visits)), 2)
    terminated = np.tile([False, True], len(visits))
    factors = pooled_end_factors(pairs, terminated, row_visits, row_rewards, errors=errors)
    changed = (row_visits * factors).reshape(-1, 2)
    np.testing.assert_allclose(changed.sum(axis=1), visits)
    return changed[:, 1] / visits


def test_ends_with_the_same_reward_share_a_probability_unless_they_clearly_differ():
    # 8 of 100 and 2 of 10 are one danger, 10 of 110; 60 of 100 is another one.
    found = shares([100, 10, 100], [8, 2, 60], [-1.0, -1.0, -1.0])
    np.testing.assert_allclose(found, [10 / 110, 10 / 110, 0.6])


def test_ends_with_other_rewards_are_other_dangers():
    np.testing.assert_allclose(shares([100, 10], [8, 2], [-1.0, -2.0]), [0.08, 0.2])


def test_what_always_ends_stays_as_it_is():
    pairs, terminated = np.array([0, 1, 1]), np.array([True, False, True])
    visits, rewards = np.array([5, 90, 10]), np.array([[-1.0], [0.0], [-1.0]])
    factors = pooled_end_factors(pairs, terminated, visits, rewards, errors=2.5)
    assert factors.tolist() == [1.0, 1.0, 1.0]
