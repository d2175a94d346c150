"""For how many preferences each point of a front is the best one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.pareto import non_dominated_mask, preferred_first, preferred_shares

return_sets = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(2, 4)),
    elements=st.integers(-5, 5).map(float),  # a coarse grid makes ties common
)


@given(return_sets)
def test_shares_add_up_to_one_and_dominated_points_get_nothing(returns):
    shares = preferred_shares(returns)
    assert shares.sum() == pytest.approx(1.0)
    assert np.all(shares[~non_dominated_mask(returns)] == 0.0)


@given(return_sets, st.integers(0, 3))
def test_the_unit_of_an_objective_does_not_matter(returns, objective):
    changed = returns.copy()
    changed[:, objective % returns.shape[1]] *= 1024.0  # a power of two: no rounding
    np.testing.assert_array_equal(preferred_shares(changed), preferred_shares(returns))


def test_two_extremes_share_the_preferences_evenly():
    # The point (1, 0) loses w_2 and (0, 1) loses w_1; w_1 is uniform on [0, 1].
    assert preferred_shares(np.array([[1.0, 0.0], [0.0, 1.0]])) == pytest.approx(0.5, abs=0.05)


def test_points_of_a_concave_front_are_preferred_too():
    # (.3, .3) loses .7 at most: less than w_1 or w_2 loses where both lie between .3 / .7 and ...
    concave = np.array([[1.0, 0.0], [0.3, 0.3], [0.0, 1.0]])
    shares = preferred_shares(concave)
    # It is best where .7 max(w) < min over the extremes = min(w), that is 7/17 < w_1 < 10/17.
    assert shares[1] == pytest.approx(3 / 17, abs=0.04)


def test_one_point_among_many_that_are_alike_keeps_its_share():
    """Twenty ways to stay in the valley beside one that reaches the flag."""
    valley = np.column_stack([np.full(20, -200.0), -np.arange(20.0), -np.arange(20.0)[::-1]])
    flag = np.array([[-120.0, -40.0, -60.0]])
    shares = preferred_shares(np.concatenate([valley, flag]))
    assert shares[-1] > 0.25  # 1 / 21 if all were alike
    assert shares[:-1].sum() > 0.25


@given(return_sets)
def test_the_order_has_every_point_once_and_begins_with_the_preferred_ones(returns):
    order = preferred_first(returns)
    assert sorted(order.tolist()) == list(range(len(returns)))
    shares = preferred_shares(returns)
    num_preferred = int((shares > 0).sum())
    assert set(order[:num_preferred]) == set(np.flatnonzero(shares))
    assert np.all(np.diff(shares[order[:num_preferred]]) <= 0)
