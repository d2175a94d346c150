"""Planning for weights against brute force, set-valued planning and calculations by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcn.pareto import covered_mask
from pcn.planning import plan
from pcn.planning.weighted_planning import plan_for_weights
from tabular_models import all_returns, followed, model_of, random_model


def planned(model, *, discount=0.9, horizon=3, num_weights=20, most_nodes=10**6):
    return plan_for_weights(
        model,
        discount=discount,
        horizon=horizon,
        num_weights=num_weights,
        most_nodes=most_nodes,
    )


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(1, 1), (2, 1), (2, 2)]))
def test_no_policy_is_better_for_a_weight_that_was_planned_for(seed, shape):
    horizon, num_starts = shape
    model = random_model(seed, num_starts=num_starts)
    returns = all_returns(model, horizon, 0.9)
    vectors = planned(model, horizon=horizon, num_weights=101).vectors
    extent = np.ptp(vectors, axis=0)
    for share in (0.01, 0.25, 0.5, 0.99):
        weight = np.array([share, 1 - share]) / np.where(extent > 0, extent, 1.0)
        np.testing.assert_allclose((vectors @ weight).max(), (returns @ weight).max(), atol=1e-2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_following_a_plan_gives_what_it_promises(seed, horizon):
    model = random_model(seed, num_states=3, num_actions=2, num_starts=2)
    plans = planned(model, discount=0.8, horizon=horizon)
    np.testing.assert_allclose(followed(plans, 0.8), plans.vectors, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_every_plan_is_one_of_the_exact_front(seed):
    model = random_model(seed, num_states=3)
    exact = plan(model, discount=0.9, horizon=4).vectors
    vectors = planned(model, horizon=4).vectors
    assert covered_mask(vectors - 1e-8, exact).all()
    np.testing.assert_allclose(vectors.max(axis=0), exact.max(axis=0), atol=0.05)


@pytest.mark.parametrize("units", [(1.0, 1.0), (1e4, 1e-2), (1e-6, 1e6)])
def test_units_of_the_objectives_change_nothing(units):
    """Five actions that trade one objective for the other, on a curve."""
    gains = [(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, np.pi / 2, 5)]
    rows = [
        (0, action, 0, True, 1.0, tuple(np.array(gain) * units))
        for action, gain in enumerate(gains)
    ]
    assert len(planned(model_of(rows, num_states=1), horizon=1).vectors) == 5


def test_of_equal_plans_the_shortest_is_taken():
    """Waiting costs nothing, so that the same can be had later as well."""
    rows = [
        (0, 0, 0, False, 1.0, (0, 0)),
        (0, 1, 1, False, 1.0, (0, 0)),
        (1, 0, 1, False, 1.0, (0, 0)),
        (1, 1, 1, True, 1.0, (1, 2)),
    ]
    plans = planned(model_of(rows, num_states=2), discount=1.0, horizon=100)
    np.testing.assert_allclose(plans.vectors, [[1, 2]])
    np.testing.assert_allclose(plans.steps, [2])
    assert len(plans.bases) < 10  # it stopped once nothing changed
    assert plans.horizon == 100


def test_only_corners_of_the_convex_hull_are_found():
    """(0, 4) and (4, 0), and (1, 1) below the line between them."""
    rows = [
        (0, action, 0, True, 1.0, reward) for action, reward in enumerate([(0, 4), (4, 0), (1, 1)])
    ]
    plans = planned(model_of(rows, num_states=1), horizon=1)
    np.testing.assert_allclose(plans.vectors, [[0, 4], [4, 0]])


def test_with_little_room_there_are_fewer_plans_but_none_is_shortsighted():
    rewards = [(1, -1), (-1, 1), (0.8, 0.8)]
    rows = [(0, action, 0, False, 1.0, reward) for action, reward in enumerate(rewards)]
    model = model_of(rows, num_states=1)
    all_of_them = planned(model, discount=1.0, horizon=50, most_nodes=10_000)
    few = planned(model, discount=1.0, horizon=50, most_nodes=110)
    assert few.horizon == 50
    assert len(few) == 2 < len(all_of_them)
    np.testing.assert_allclose(few.vectors, [[-50, 50], [50, -50]])


def test_without_any_room_the_horizon_is_shorter():
    rows = [(0, 0, 0, False, 1.0, (1, -1)), (0, 1, 0, False, 1.0, (-1, 1))]
    plans = planned(model_of(rows, num_states=1), discount=1.0, horizon=50, most_nodes=20)
    assert plans.horizon < 50
    np.testing.assert_allclose(plans.vectors.max(axis=0), plans.horizon)
