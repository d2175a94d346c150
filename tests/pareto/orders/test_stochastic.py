from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.pareto import Stochastic, dominates, survival_gaps
from pcn.pareto.orders import stochastic

quick = settings(max_examples=60, deadline=None)
num_objectives = st.shared(st.integers(1, 3), key="objectives")
samples = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), num_objectives),
    elements=st.integers(-2, 2).map(float),
)
EXACT = Stochastic(slack=0.0)


def survival(sample, threshold):
    return np.mean([all(one >= v for one, v in zip(row, threshold, strict=True)) for row in sample])


def exactly_dominates(x, y):
    """The definition, at every vector of a grid that has all values."""
    thresholds = list(product(range(-3, 4), repeat=x.shape[1]))
    difference = [survival(x, v) - survival(y, v) for v in thresholds]
    return min(difference) >= -1e-12 and max(difference) > 1e-12


def dominance(order, sets):
    return order.dominance(survival_gaps(sets), np.array([one.mean(axis=0) for one in sets]))


@given(st.lists(samples, min_size=2, max_size=4))
@quick
def test_dominance_of_samples_is_its_definition(sets):
    expected = [[exactly_dominates(x, y) for y in sets] for x in sets]
    # Equal shares of samples of different sizes may differ in their last digit.
    np.testing.assert_array_equal(dominance(Stochastic(slack=1e-9), sets), expected)


@given(st.lists(samples, min_size=1, max_size=5))
@quick
def test_dominance_of_samples_is_irreflexive_and_transitive(sets):
    better = dominance(Stochastic(slack=1e-9), sets)
    assert not better.diagonal().any()
    assert np.all(better >= (better @ better))


@given(st.lists(samples, min_size=2, max_size=5))
@quick
def test_means_that_no_other_mean_reaches_are_on_the_front(sets):
    means = np.array([one.mean(axis=0) for one in sets])
    front = EXACT.front_mask(means, sets, 0.0)
    assert front.any()
    for index in np.flatnonzero(~front):
        assert any(np.all(other >= means[index]) for other in np.delete(means, index, axis=0))


def test_a_risky_policy_of_lower_mean_is_on_the_front_and_a_worse_one_is_not():
    safe = np.full((10, 1), 5.0)
    risky = np.repeat([[0.0], [9.0]], 5, axis=0)  # mean 4.5, but nine in half of the cases
    worse = np.repeat([[0.0], [5.0]], 5, axis=0)
    sets = [safe, risky, worse]
    means = np.array([one.mean(axis=0) for one in sets])
    assert Stochastic().front_mask(means, sets, 0.0).tolist() == [True, True, False]
    assert Stochastic().front_mask(means, None, 0.0).tolist() == [True, False, False]


def test_single_outcomes_are_compared_as_pareto_does():
    a, b = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    assert dominates(a, b)
    assert dominance(EXACT, [a[None], b[None]]).tolist() == [[False, True], [False, False]]


def test_differences_within_the_slack_do_not_count():
    often = np.repeat([[0.0], [1.0]], [48, 52], axis=0)
    seldom = np.repeat([[0.0], [1.0]], [52, 48], axis=0)
    assert dominance(EXACT, [often, seldom]).tolist() == [[False, True], [False, False]]
    assert not dominance(Stochastic(slack=0.05), [often, seldom]).any()


def test_many_values_are_compared_at_quantiles(monkeypatch):
    monkeypatch.setattr(stochastic, "MOST_THRESHOLDS", 64)
    rng = np.random.default_rng(0)
    low = rng.normal(size=(500, 2))
    gaps = survival_gaps([low + 1.0, low])
    # The chance to reach (0, 0) differs most: .84 squared after the shift, .5 squared before it.
    assert gaps[0, 1] == pytest.approx(0.84**2 - 0.5**2, abs=0.08)
    assert gaps[1, 0] == 0
