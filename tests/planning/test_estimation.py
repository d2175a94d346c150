"""Models from counts: dangers that many steps share are known from all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pcn.planning import plan
from pcn.planning.clocks import PooledCounts
from pcn.planning.estimation import (
    binomial_tails,
    constant_mask,
    estimated_model,
    pooled_end_factors,
    pooled_means,
    pooled_shares,
)
from pcn.planning.reward_noise import comes_back_mask, unexplained


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


def counts_of(rows):
    """Counts from (state, action, next state, terminated, rewards of each visit)."""
    states, actions, following, terminated, rewards = zip(*rows, strict=True)
    return PooledCounts(
        num_states=max(*states, *following) + 1,
        starts=np.array([1] + [0] * max(*states, *following)),
        states=np.array(states),
        actions=np.array(actions),
        next_states=np.array(following),
        terminated=np.array(terminated),
        visits=np.array([len(of_row) for of_row in rewards]),
        sums=np.array([[sum(of_row)] for of_row in rewards]),
        squares=np.array([[sum(np.square(of_row))] for of_row in rewards]),
    )


def best_return(rows, *, horizon):
    model = estimated_model(
        counts_of(rows), discount=1.0, least_visits=1, errors=2.5, unknown=np.zeros(1)
    )
    return plan(model, discount=1.0, horizon=horizon).vectors.max()


def test_a_step_that_does_not_leave_shares_no_reward_for_leaving():
    """It would bring it again and again: action 1 stays, and action 0 ends with 2 in one of two."""
    rows = [(0, 0, 0, False, [0.0, 0.0]), (0, 0, 0, True, [2.0, 2.0]), (0, 1, 0, False, [0.0] * 3)]
    assert best_return(rows, horizon=40) == pytest.approx(2.0)


def test_where_no_episode_comes_back_a_lucky_reward_is_shared():
    """The tickets of a lottery, 4 or nothing, lead elsewhere; 1 for sure is no worse as yet."""
    rows = [(0, 0, 1, False, [4.0]), (0, 0, 2, False, [0.0, 0.0]), (0, 1, 3, False, [1.0] * 3)]
    rows += [(state, 0, 4, True, [0.0]) for state in (1, 2, 3)]
    assert best_return(rows, horizon=2) == pytest.approx(7 / 6)


def test_states_that_an_episode_comes_back_to():
    rows = [
        (0, 0, 1, False, [0.0]), (1, 0, 2, False, [0.0]), (2, 0, 1, False, [0.0]),
        (2, 1, 3, False, [0.0]), (3, 0, 3, False, [0.0]), (3, 1, 0, True, [0.0]),
    ]  # fmt: skip
    assert comes_back_mask(counts_of(rows)).tolist() == [False, True, True, True]


def test_noise_of_a_reward_is_still_shared():
    """Both bring 0 or 4 by chance, and lead to the same state."""
    rows = [(0, 0, 0, True, [0.0, 4.0, 4.0]), (0, 1, 0, True, [0.0, 0.0, 4.0])]
    assert best_return(rows, horizon=1) == pytest.approx(2.0)


def test_a_similar_state_may_stand_for_one_in_which_nobody_acted():
    rows = [
        (0, 0, 1, False, [0.0]), (0, 1, 3, False, [0.0]), (1, 0, 2, True, [1.0]),
    ]  # fmt: skip
    given = {"discount": 1.0, "least_visits": 1, "errors": 2.5, "unknown": np.array([-9.0])}
    numbers = np.array([[0.0], [5.0], [9.0], [6.0]])
    cautious = plan(estimated_model(counts_of(rows), **given), discount=1.0, horizon=3)
    assert cautious.vectors.tolist() == [[1.0]]
    rows[0] = (0, 0, 2, False, [0.0])  # only the other action leads to what is like state 1
    hopeful = estimated_model(counts_of(rows), **given, numbers=numbers * [[1], [1], [-1], [1]])
    assert plan(hopeful, discount=1.0, horizon=3).vectors.tolist() == [[1.0]]
    cautious = plan(estimated_model(counts_of(rows), **given), discount=1.0, horizon=3)
    assert cautious.vectors.tolist() == [[-9.0]]


def noise_of(rows, *, spread):
    """What is not explained of pairs with this spread; rows of a pair follow one another."""
    counts = counts_of(rows)
    pairs = counts.states * 10 + counts.actions
    first = np.flatnonzero(np.append(True, np.diff(pairs) != 0))
    visits = np.add.reduceat(counts.visits, first)
    spread = np.array(spread, float)[:, None]
    return unexplained(counts, first, visits, spread, np.ones(len(pairs)))[:, 0].tolist()


def test_rounding_is_no_noise():
    rows = [(0, 0, 0, True, [0.1] * 7), (0, 1, 0, True, [0.1 + 1e-6] * 7)]
    assert noise_of(rows, spread=[1e-18, 1e-18]) == [0.0, 0.0]
    assert best_return(rows, horizon=1) == pytest.approx(0.1 + 1e-6, abs=1e-12)


def test_of_outcomes_that_were_seen_once_as_much_is_noise_as_elsewhere():
    """The first action: 2 and 2 within two outcomes, (5 - 1) / (5 - 2) times that, of 20 in all."""
    rows = [
        (0, 0, 0, False, [0.0, 2.0]), (0, 0, 1, False, [4.0, 5.0, 6.0]),
        (0, 1, 0, False, [0.0]), (0, 1, 1, False, [9.0]),
    ]  # fmt: skip
    assert noise_of(rows, spread=[20.0, 40.5]) == pytest.approx([16 / 3, 40.5 * 16 / 60])


@given(st.integers(1, 3000), st.floats(0, 1), st.floats(0.001, 0.999))
def test_tails_are_those_of_the_binomial_distribution(count, part, share):
    hits = np.array([0, round(part * count), count])
    counts = np.full(3, count)
    fewer, more = binomial_tails(hits, counts, share)
    np.testing.assert_allclose(fewer, binom.cdf(hits, counts, share), rtol=1e-7, atol=1e-300)
    np.testing.assert_allclose(more, binom.sf(hits - 1, counts, share), rtol=1e-7, atol=1e-300)
