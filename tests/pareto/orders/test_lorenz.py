from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.errors import UserError
from pcn.pareto import LambdaLorenz, Lorenz, Scaled, non_dominated_mask

quick = settings(max_examples=100, deadline=None)
num_objectives = st.shared(st.integers(1, 5), key="objectives")
grid = st.integers(-4, 4).map(float)
return_sets = arrays(np.float64, st.tuples(st.integers(1, 8), num_objectives), elements=grid)
FAIR = [Lorenz(), LambdaLorenz(0.0), LambdaLorenz(0.3), LambdaLorenz(1.0)]


def lorenz_dominates(a, b):
    """The definition, value by value."""
    at_least, better = True, False
    for count in range(1, len(a) + 1):
        worst_a, worst_b = sum(sorted(a)[:count]), sum(sorted(b)[:count])
        at_least &= worst_a >= worst_b
        better |= worst_a > worst_b
    return at_least and better


@given(return_sets)
@quick
def test_lorenz_dominance_is_its_definition(returns):
    for a in returns.tolist():
        for b in returns.tolist():
            assert Lorenz().dominates(np.array(a), np.array(b)) == lorenz_dominates(a, b)


def test_hand_calculation():
    # Sorted 1 2 6 and 2 2 4: sums 1 3 9 and 2 4 8. Neither is at least as good everywhere.
    rich, even, poor = np.array([[6.0, 1.0, 2.0], [2.0, 4.0, 2.0], [1.0, 5.0, 2.0]])
    assert not Lorenz().dominates(rich, even)
    assert not Lorenz().dominates(even, rich)
    assert Lorenz().dominates(even, poor)  # sums 2 4 8 and 1 3 8
    # Half of the sorted values and half of their sums: 2 3 6 and 1 2.5 6.5.
    np.testing.assert_array_equal(LambdaLorenz(0.5).criteria(even[None]), [[2, 3, 6]])
    np.testing.assert_array_equal(LambdaLorenz(0.5).criteria(poor[None]), [[1, 2.5, 6.5]])
    assert not LambdaLorenz(0.5).dominates(even, poor)


@given(returns=return_sets)
@quick
def test_the_limits_of_lambda_are_lorenz_dominance_and_pareto_dominance_of_sorted_returns(returns):
    np.testing.assert_array_equal(
        LambdaLorenz(0.0).non_dominated_mask(returns), Lorenz().non_dominated_mask(returns)
    )
    np.testing.assert_array_equal(
        LambdaLorenz(1.0).non_dominated_mask(returns),
        non_dominated_mask(np.sort(returns, axis=1)),
    )


@given(returns=return_sets)
@quick
def test_the_front_grows_with_lambda(returns):
    fronts = [LambdaLorenz(weight).non_dominated_mask(returns) for weight in (0.0, 0.25, 0.75, 1.0)]
    for smaller, larger in pairwise(fronts):
        assert np.all(smaller <= larger)


@pytest.mark.parametrize("order", FAIR)
@given(returns=return_sets, data=st.data())
@quick
def test_who_gets_what_does_not_matter(order, returns, data):
    shuffled = np.array([data.draw(st.permutations(row.tolist())) for row in returns])
    np.testing.assert_array_equal(order.criteria(shuffled), order.criteria(returns))


@given(returns=return_sets, data=st.data())
@quick
def test_giving_to_the_worse_off_is_an_improvement(returns, data):
    poorest, richest = returns[0].argmin(), returns[0].argmax()
    gap = returns[0, richest] - returns[0, poorest]
    if gap == 0:
        return
    moved = data.draw(st.floats(0.01, 0.5)) * gap
    fairer = returns[0].copy()
    fairer[poorest] += moved
    fairer[richest] -= moved
    tolerances = np.full(len(fairer), 1e-6)
    kept = Lorenz().non_dominated_mask(np.stack([fairer, returns[0]]), tolerances)
    assert kept.tolist() == [True, False]


def test_rounding_errors_of_sums_decide_nothing():
    tenths = np.array([[0.1, 0.2, 0.3], [0.1, 0.25, 0.25]])  # 0.1 + 0.2 + 0.3 is 0.6 and a bit
    assert Lorenz().criteria(tenths)[0, -1] != Lorenz().criteria(tenths)[1, -1]
    assert Lorenz().non_dominated_mask(tenths, np.full(3, 1e-4)).tolist() == [False, True]


def test_tolerances_that_differ_between_objectives_do_not_make_equal_values_differ():
    returns = np.array([[-6.0, -5.0, -4.0], [-5.0, -6.0, -6.0], [-3.0, -7.0, -5.0]])
    tolerances = np.array([3.7e-4, 4.1e-4, 2.9e-4])  # -6 is no multiple of any
    assert Lorenz().non_dominated_mask(returns).tolist() == [True, False, False]
    assert Lorenz().non_dominated_mask(returns, tolerances).tolist() == [True, False, False]


def test_scaled_objectives_compare_as_shares_of_their_range():
    # Tonnes from 0 to 10 and metres from 0 to 1000: as shares (.5, .5) and (.9, .1).
    order = Scaled(Lorenz(), lowest=(0.0, 0.0), extents=(10.0, 1000.0))
    assert order.dominates(np.array([5.0, 500.0]), np.array([9.0, 100.0]))
    assert not Lorenz().dominates(np.array([5.0, 100.0]), np.array([9.0, 100.0]))


def test_an_objective_that_never_moved_stays_as_it_is():
    order = Scaled(Lorenz(), lowest=(0.0, 3.0), extents=(10.0, 0.0))
    # The second objective is 0 above its lowest value, so the sums decide.
    assert order.dominates(np.array([5.0, 3.0]), np.array([4.0, 3.0]))


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_lambda_is_a_share(weight):
    with pytest.raises(UserError, match="weight must"):
        LambdaLorenz(weight)
