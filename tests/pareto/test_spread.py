"""Tolerances follow the spread of returns, and lose no point of a front that is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.envs.finding import find_environment
from pcn.pareto import has_changed, rounded, spread, tolerances_for, unique_front

POINTS = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.just(2)),
    elements=st.integers(-50, 50).map(float),
)


@given(POINTS, st.integers(-20, 20), st.integers(-20, 20))
def test_units_of_an_objective_are_units_of_its_tolerance(returns, first, second):
    factors = np.array([2.0**first, 2.0**second])  # exact
    plain, scaled = tolerances_for(returns, 0.01), tolerances_for(returns * factors, 0.01)
    np.testing.assert_array_equal(scaled, plain * factors)
    np.testing.assert_array_equal(
        rounded(returns * factors, scaled), rounded(returns, plain) * factors
    )


def test_a_tolerance_is_a_share_of_the_range_but_no_less_than_single_precision():
    returns = np.array([[1000.0, 5.0, 0.0], [1000.0, 7.0, 0.0]])
    tolerances = tolerances_for(returns, 0.1)
    assert tolerances[1] == pytest.approx(0.2)
    assert 1e-7 < tolerances[0] / 1000 < 1e-6  # rewards have about seven digits
    assert tolerances[2] == 0
    assert spread(np.zeros((0, 3))).tolist() == [0, 0, 0]


def test_noise_does_not_part_equal_returns_at_numbers_that_returns_have():
    """Half a tolerance is where plain rounding would be undecided."""
    returns = np.arange(-200, 200)[:, None] / 8.0
    noise = np.where(np.arange(len(returns)) % 2, 1e-12, -1e-12)[:, None]
    for tolerance in (0.25, 0.1, 1 / 3):
        np.testing.assert_array_equal(
            rounded(returns + noise, tolerance), rounded(returns - noise, tolerance)
        )


def test_a_spread_has_changed_once_it_is_twice_or_half_of_what_it_was():
    before = np.array([4.0, 4.0, 4.0, 4.0, 0.0, 0.0])
    now = np.array([7.9, 8.1, 2.1, 1.9, 1e-9, 0.0])
    assert has_changed(now, before, 2.0).tolist() == [False, True, False, True, True, False]


@pytest.mark.parametrize(
    ("name", "waste"), [("minecart", (0.0, 0.0, -30.0)), ("deep-sea-treasure", (0.0, -200.0))]
)
def test_no_point_of_a_known_front_is_lost(name, waste):
    """Also while the spread is that of an episode which wastes all it can."""
    front = find_environment(name, {}).environment.spec.front.returns
    tolerances = tolerances_for(np.concatenate([front, [waste]]), 1e-4)
    assert len(unique_front(rounded(front, tolerances))) == len(front)
    gaps = np.abs(front[:, None] - front[None])
    smallest = np.where(gaps > 1e-9, gaps, np.inf).min(axis=(0, 1))
    assert np.all(smallest > 5 * tolerances)
