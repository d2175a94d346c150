"""Set-valued dynamic programming against brute force and calculations by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcn.pareto import covered_mask, unique_front
from pcn.planning import TabularModel, plan
from tabular_models import all_returns, followed, model_of, random_model


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(1, 1), (2, 1), (2, 2), (3, 1)]))
def test_the_front_is_that_of_all_policies(seed, shape):
    horizon, num_starts = shape
    model = random_model(seed, num_starts=num_starts)
    returns = all_returns(model, horizon, 0.9)
    expected = returns[unique_front(np.round(returns, 9))]
    found = plan(model, discount=0.9, horizon=horizon).vectors
    np.testing.assert_allclose(found, expected, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([None, 3]))
def test_following_a_plan_gives_what_it_promises(seed, horizon, most_vectors):
    model = random_model(seed, num_states=3, num_actions=2, num_starts=2)
    most = 30 if most_vectors is None else most_vectors
    plans = plan(model, discount=0.8, horizon=horizon, most_vectors=most)
    np.testing.assert_allclose(followed(plans, 0.8), plans.vectors, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_thinning_keeps_the_extremes_and_invents_nothing(seed, most_vectors):
    model = random_model(seed, num_states=3)
    exact = plan(model, discount=0.9, horizon=4).vectors
    thinned = plan(model, discount=0.9, horizon=4, most_vectors=most_vectors).vectors
    assert len(thinned) <= most_vectors
    assert covered_mask(thinned - 1e-8, exact).all()
    np.testing.assert_allclose(thinned.max(axis=0), exact.max(axis=0), atol=1e-9)


def test_a_lottery_beside_a_safe_way():
    """Action 0: 1 for sure. Action 1: 3 with a half, and a penalty of 2 with a half."""
    rows = [
        (0, 0, 0, True, 1.0, (1, 0)),
        (0, 1, 0, True, 0.5, (3, 0)),
        (0, 1, 0, True, 0.5, (0, -2)),
    ]
    plans = plan(model_of(rows, num_states=1), discount=1.0, horizon=5)
    np.testing.assert_allclose(plans.vectors, [[1, 0], [1.5, -1]])
    assert plans.actions(plans.beginning(np.array([0, 1]))).tolist() == [0, 1]


def test_repeated_choices_have_as_many_sums_as_there_are_counts():
    """Like fishwood: each step gives (0.1, 0) or (0, 0.9)."""
    rows = [(0, 0, 0, False, 1.0, (0.1, 0)), (0, 1, 0, False, 1.0, (0, 0.9))]
    plans = plan(model_of(rows, num_states=1), discount=1.0, horizon=200)
    count = np.arange(201)
    np.testing.assert_allclose(
        plans.vectors, np.column_stack([0.1 * count, 0.9 * (200 - count)]), atol=1e-9
    )


def test_a_plan_may_depend_on_the_steps_that_are_left():
    """A state that pays 1 each step, and a way out that pays 5: leave at the last moment."""
    rows = [(0, 0, 0, False, 1.0, (1, 0)), (0, 1, 0, True, 1.0, (5, 0))]
    plans = plan(model_of(rows, num_states=1), discount=1.0, horizon=4)
    np.testing.assert_allclose(plans.vectors, [[8, 0]])
    occupancy, taken = plans.beginning(np.array([0])), []
    for time in range(4):
        taken += plans.actions(occupancy).tolist()
        occupancy = plans.after(occupancy, time)
    assert taken == [0, 0, 0, 1]
    assert len(occupancy) == 0


def test_of_equal_plans_the_shortest_is_taken():
    """Waiting costs nothing, so that every vector can be had later as well."""
    rows = [
        (0, 0, 0, False, 1.0, (0, 0)),
        (0, 1, 1, False, 1.0, (0, 0)),
        (1, 0, 1, False, 1.0, (0, 0)),
        (1, 1, 1, True, 1.0, (1, 2)),
    ]
    plans = plan(model_of(rows, num_states=2), discount=1.0, horizon=100)
    np.testing.assert_allclose(plans.vectors, [[1, 2]])
    np.testing.assert_allclose(plans.steps, [2])
    assert len(plans.bases) < 10  # it stopped once nothing changed


def test_a_loop_with_a_discount_converges_to_the_geometric_series():
    rows = [(0, 0, 0, False, 1.0, (1, -2))]
    plans = plan(model_of(rows, num_states=1), discount=0.5, horizon=1000)
    np.testing.assert_allclose(plans.vectors, [[2, -4]], rtol=1e-8)


def test_the_unit_of_rewards_changes_nothing():
    for scale in (1e-6, 1e6):
        model = random_model(3, num_states=3)
        scaled = TabularModel(
            model.start,
            model.states,
            model.actions,
            model.next_states,
            model.terminated,
            model.probabilities,
            model.rewards * np.array([scale, 1.0]),
        )
        plain = plan(model, discount=0.9, horizon=5).vectors
        np.testing.assert_allclose(
            plan(scaled, discount=0.9, horizon=5).vectors, plain * [scale, 1.0], rtol=1e-6
        )


def test_probabilities_that_do_not_sum_to_one_are_refused():
    with pytest.raises(ValueError, match="must sum to 1"):
        model_of([(0, 0, 0, True, 0.5, (0, 0))], num_states=1)


def test_states_beyond_the_last_one_are_refused():
    with pytest.raises(ValueError, match="numbered from 0 to 0"):
        model_of([(0, 0, 1, False, 1.0, (0, 0))], num_states=1)


def test_planning_that_is_broken_off_has_a_shorter_horizon():
    rows = [(0, 0, 0, False, 1.0, (1, 0)), (0, 1, 0, False, 1.0, (0, 1))]
    plans = plan(model_of(rows, num_states=1), discount=1.0, horizon=50, most_work=8000)
    assert 1 < plans.horizon < 50
    np.testing.assert_allclose(plans.vectors.sum(axis=1), plans.horizon)
    np.testing.assert_allclose(followed(plans, 1.0), plans.vectors)


def test_planning_that_will_take_far_too_long_is_broken_off_at_once():
    rows = [(0, 0, 0, False, 1.0, (1, 0)), (0, 1, 0, False, 1.0, (0, 1))]
    plans = plan(model_of(rows, num_states=1), discount=1.0, horizon=10**6, most_work=10**6)
    assert plans.horizon == 1


def test_rows_of_the_same_outcome_are_added_up():
    rows = [
        (0, 0, 0, True, 0.25, (4, 0)),
        (0, 0, 0, False, 0.5, (0, 0)),
        (0, 0, 0, True, 0.25, (0, 2)),
    ]
    model = model_of(rows, num_states=1)
    assert model.terminated.tolist() == [False, True]
    np.testing.assert_allclose(model.probabilities, [0.5, 0.5])
    np.testing.assert_allclose(model.rewards, [[0, 0], [2, 1]])
