"""Models from counts: dangers that many steps share are known from all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pcn.planning.estimation import (
    binomial_tails,
    constant_mask,
    pooled_end_factors,
    pooled_means,
    pooled_shares,
)


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
    # 8 of 100, 2 of 10 and 11 of 100 are one danger, 21 of 210; 60 of 100 is another one.
    found = shares([100, 10, 100, 100], [8, 2, 60, 11], np.full(4, -1.0))
    np.testing.assert_allclose(found, [0.1, 0.1, 0.6, 0.1])


def test_ends_with_other_rewards_are_other_dangers():
    np.testing.assert_allclose(shares([100, 10], [8, 2], [-1.0, -2.0]), [0.08, 0.2])


def test_what_always_ends_stays_as_it_is():
    pairs, terminated = np.array([0, 1, 1]), np.array([True, False, True])
    visits, rewards = np.array([5, 90, 10]), np.array([[-1.0], [0.0], [-1.0]])
    factors = pooled_end_factors(pairs, terminated, visits, rewards, errors=2.5)
    assert factors.tolist() == [1.0, 1.0, 1.0]


def test_of_many_equal_dangers_none_is_singled_out_by_chance():
    rng = np.random.default_rng(0)
    counts = rng.integers(5, 200, size=30)
    found = pooled_shares(rng.binomial(counts, 0.1), counts, errors=2.5)
    assert len(np.unique(found)) == 1
    np.testing.assert_allclose(found, 0.1, atol=0.02)


def test_two_clearly_different_dangers_stay_apart():
    counts = np.full(10, 300)
    hits = np.array([30, 28, 33, 29, 31, 27, 90, 93, 88, 91])
    found = pooled_shares(hits, counts, errors=2.5)
    np.testing.assert_allclose(found[:6], hits[:6].sum() / 1800)
    np.testing.assert_allclose(found[6:], hits[6:].sum() / 1200)


def rare_losses(num_states, num_visits, *, safe_loses):
    """Two actions in each state: the second loses 50 in a hundredth of its visits, by chance."""
    rng = np.random.default_rng(0)
    states, actions = np.repeat(np.arange(num_states), 2), np.tile([0, 1], num_states)
    visits = np.full(2 * num_states, num_visits)
    losses = rng.binomial(num_visits, np.where(actions | safe_loses, 0.01, 0.0))
    means = (-50.0 * losses / visits)[:, None]
    spread = (2500.0 * losses)[:, None] - visits[:, None] * means**2
    return states, actions, visits, means, spread


def test_an_action_that_never_loses_does_not_share_the_rare_losses_of_another_one():
    # 100 visits: a loss or two in a state are no proof, but 20 states with none by the first are.
    states, actions, visits, means, spread = rare_losses(20, 100, safe_loses=False)
    assert (pooled_means(states, visits, means, spread, errors=2.5)[actions == 0] < 0).any()
    apart = constant_mask(states, actions, visits, means, spread, errors=2.5)
    assert apart[:, 0].tolist() == (actions == 0).tolist()
    found = pooled_means(states, visits, means, spread, errors=2.5, apart=apart)
    np.testing.assert_array_equal(found, means)


def test_an_action_that_was_only_lucky_so_far_shares_the_losses():
    for case in (rare_losses(20, 100, safe_loses=True), rare_losses(2, 100, safe_loses=False)):
        states, actions, visits, means, spread = case
        assert not constant_mask(states, actions, visits, means, spread, errors=2.5).any()


@given(st.integers(1, 3000), st.floats(0, 1), st.floats(0.001, 0.999))
def test_tails_are_those_of_the_binomial_distribution(count, part, share):
    hits = np.array([0, round(part * count), count])
    counts = np.full(3, count)
    fewer, more = binomial_tails(hits, counts, share)
    np.testing.assert_allclose(fewer, binom.cdf(hits, counts, share), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(more, binom.sf(hits - 1, counts, share), rtol=1e-9, atol=1e-300)
