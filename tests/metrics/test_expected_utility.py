from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.metrics import METRICS, Problem, expected_utility

quick = settings(max_examples=25, deadline=None)

FAMILIES = ["mixed", "linear", "chebyshev", "cobb-douglas"]

num_objectives = st.shared(st.integers(1, 4), key="objectives")
return_sets = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), num_objectives),
    elements=st.integers(-2, 6).map(float),
)


def utility(returns, family, **options):
    size = returns.shape[1]
    return expected_utility(returns, np.zeros(size), np.full(size, 4.0), family=family, **options)


def slow_utility(weights, z, family):
    positive = [max(value, 0.0) for value in z]
    if family == "linear":
        return sum(w * value for w, value in zip(weights, z, strict=True))
    if family == "chebyshev":
        return min(value / w for w, value in zip(weights, positive, strict=True)) * max(weights)
    return np.prod([value**w for w, value in zip(weights, positive, strict=True)])


@given(return_sets)
@quick
def test_the_mean_of_each_users_best_written_as_loops(returns):
    weights = np.random.default_rng(5).dirichlet(np.ones(returns.shape[1]), size=9)
    expected = np.mean(
        [
            max(slow_utility(weights[user], point / 4, family) for point in returns)
            for user, family in enumerate(3 * ["linear"] + 3 * ["chebyshev"] + 3 * ["cobb-douglas"])
        ]
    )
    measured = utility(returns, "mixed", num_utilities=9, rng=np.random.default_rng(5))
    assert measured == pytest.approx(expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_halfway_to_the_ideal_in_every_objective_is_worth_a_half(family):
    assert utility(np.array([[2.0, 2.0, 2.0]]), family) == pytest.approx(0.5)
    assert utility(np.array([[4.0, 4.0, 4.0]]), family) == pytest.approx(1.0)
    assert utility(np.array([[0.0, 0.0, 0.0]]), family) == pytest.approx(0.0)


def test_linear_users_of_two_corners_get_their_larger_weight():
    corners = np.array([[0.0, 1.0], [1.0, 0.0]])
    # The larger of two weights is uniform between 1/2 and 1.
    measured = expected_utility(
        corners, np.zeros(2), np.ones(2), family="linear", num_utilities=20_000
    )
    assert measured == pytest.approx(0.75, abs=0.005)


def test_only_linear_users_ignore_the_concave_part_of_a_front():
    corners = np.array([[0.0, 4.0], [4.0, 0.0]])
    with_middle = np.array([[0.0, 4.0], [4.0, 0.0], [1.6, 1.6]])
    assert utility(with_middle, "linear") == utility(corners, "linear")
    assert utility(with_middle, "mixed") > utility(corners, "mixed") + 0.1


@pytest.mark.parametrize("family", FAMILIES)
@given(returns=return_sets, more=return_sets)
@quick
def test_another_return_never_lowers_it(family, returns, more):
    both = np.concatenate([returns, more])
    assert utility(both, family) >= utility(returns, family) - 1e-12


@pytest.mark.parametrize("family", FAMILIES)
@given(returns=return_sets, data=st.data())
@quick
def test_a_better_return_never_lowers_it(family, returns, data):
    better = returns.copy()
    row = data.draw(st.integers(0, len(returns) - 1))
    better[row, data.draw(st.integers(0, returns.shape[1] - 1))] += 1
    assert utility(better, family) >= utility(returns, family) - 1e-12


def test_the_users_are_the_same_unless_asked_otherwise():
    returns = np.array([[1.0, 3.0], [3.0, 1.0]])
    assert utility(returns, "mixed") == utility(returns, "mixed")
    other_users = utility(returns, "mixed", rng=np.random.default_rng(1))
    assert utility(returns, "mixed") != other_users


def test_published_utilities_are_those_of_the_same_999_users():
    returns = np.array([[1.0, 3.0], [3.0, 1.0]])
    users = np.random.default_rng(0).dirichlet(np.ones(2), size=999)
    expected = np.mean((users @ returns.T).max(axis=1))
    problem = Problem(np.zeros(2), front=np.array([[4.0, 4.0]]))
    assert METRICS["eum"](returns, problem) == pytest.approx(expected, rel=1e-12)
    loss = np.max((users @ problem.known_front.T).max(axis=1) - (users @ returns.T).max(axis=1))
    assert METRICS["mul"](returns, problem) == pytest.approx(loss, rel=1e-12)
    mixed = expected_utility(returns, np.zeros(2), np.full(2, 4.0), num_utilities=999)
    assert METRICS["expected_utility"](returns, problem) == mixed


@pytest.mark.parametrize("family", FAMILIES)
def test_utility_is_the_same_in_chunks(family, monkeypatch):
    returns = np.random.default_rng(0).random((30, 9))
    at_once = utility(returns, family)
    monkeypatch.setattr(import_module("pcn.metrics.expected_utility"), "_MOST_PAIRS_AT_ONCE", 99)
    assert utility(returns, family) == pytest.approx(at_once)


def test_refusals_name_the_value():
    with pytest.raises(ValueError, match="no points"):
        utility(np.zeros((0, 2)), "mixed")
    with pytest.raises(ValueError, match="must be above"):
        expected_utility(np.ones((1, 2)), np.zeros(2), np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="at least 3, got 2"):
        utility(np.ones((1, 2)), "mixed", num_utilities=2)
