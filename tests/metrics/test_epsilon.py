from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.metrics import METRICS, Problem, epsilon, epsilon_mean, epsilons

quick = settings(max_examples=50, deadline=None)

num_objectives = st.shared(st.integers(1, 4), key="objectives")
return_sets = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), num_objectives),
    elements=st.integers(-5, 5).map(float),
)

TREASURES = [1, 2, 3, 5, 8, 16, 24, 50, 74, 124]
TIMES = [-1, -3, -5, -7, -8, -9, -13, -14, -17, -19]
DEEP_SEA_TREASURE = np.array([TREASURES, TIMES], dtype=float).T

FIGURE_FRONT = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0]])
FIGURE_COVERAGE_SET = np.array([[0.5, 3.0], [0.75, 2.3], [2.3, 1.0], [3.3, 0.7]])


def slow_epsilons(returns, front):
    extent = [column.max() - column.min() or 1.0 for column in front.T]
    return [
        min(
            max(abs(f - r) / e for f, r, e in zip(wanted, point, extent, strict=True))
            for point in returns
        )
        for wanted in front
    ]


def test_the_papers_figure():
    # Closest, and the objective that is farther: (1, 4) to (0.5, 3) vertically 1;
    # (2, 2) to (2.3, 1) vertically 1; (4, 1) to (3.3, 0.7) horizontally 0.7.
    raw = np.array([1.0, 1.0, 0.7])
    # Both objectives of the front range from 1 to 4.
    np.testing.assert_allclose(epsilons(FIGURE_COVERAGE_SET, FIGURE_FRONT), raw / 3)
    assert epsilon(FIGURE_COVERAGE_SET, FIGURE_FRONT) == pytest.approx(1 / 3)
    assert epsilon_mean(FIGURE_COVERAGE_SET, FIGURE_FRONT) == pytest.approx(2.7 / 3 / 3)


def test_only_the_extrema_of_deep_sea_treasure():
    # Treasure 24 is 12 of 18 steps from treasure 1, and farther from 124.
    assert epsilon(DEEP_SEA_TREASURE[[0, -1]], DEEP_SEA_TREASURE) == pytest.approx(12 / 18)


def test_deep_sea_treasure_without_its_second_largest_treasure():
    incomplete = DEEP_SEA_TREASURE[DEEP_SEA_TREASURE[:, 0] != 74]
    # The closest to (74, -17) is (50, -14): 24 of 123 treasure, 3 of 18 time.
    assert epsilon(incomplete, DEEP_SEA_TREASURE) == pytest.approx(24 / 123)
    assert epsilon_mean(incomplete, DEEP_SEA_TREASURE) == pytest.approx(24 / 123 / 10)


def test_the_distance_is_two_sided():
    front = np.array([[0.0, 10.0], [10.0, 0.0]])
    above = np.array([[5.0, 10.0], [10.0, 0.0]])  # exceeds (0, 10) by half the range
    assert epsilons(above, front).tolist() == [0.5, 0.0]


@given(return_sets, return_sets)
@quick
def test_epsilons_equal_the_definition_written_as_loops(returns, front):
    np.testing.assert_allclose(epsilons(returns, front), slow_epsilons(returns, front), atol=1e-12)


@pytest.mark.parametrize("num_objectives", [2, 3, 9])
def test_epsilons_are_the_same_in_chunks(num_objectives, monkeypatch):
    rng = np.random.default_rng(0)
    returns, front = rng.random((7, num_objectives)), rng.random((20, num_objectives))
    monkeypatch.setattr(import_module("pcn.metrics.epsilon"), "_MOST_PAIRS_AT_ONCE", 20)
    np.testing.assert_allclose(epsilons(returns, front), slow_epsilons(returns, front))


@given(return_sets)
@quick
def test_the_front_itself_is_at_distance_zero(front):
    assert epsilon(front, front) == epsilon_mean(front, front) == 0


@given(return_sets, return_sets, return_sets)
@quick
def test_another_return_never_makes_it_worse(returns, more, front):
    both = np.concatenate([returns, more])
    assert epsilon(both, front) <= epsilon(returns, front)
    assert epsilon_mean(both, front) <= epsilon_mean(returns, front)


@given(return_sets, return_sets)
@quick
def test_units_do_not_matter(returns, front):
    spread = front[:, np.ptp(front, axis=0) > 0]
    kept = returns[:, np.ptp(front, axis=0) > 0]
    if spread.size:
        assert epsilon(kept * 8 - 3, spread * 8 - 3) == pytest.approx(epsilon(kept, spread))


def test_nothing_is_close_to_the_empty_set():
    assert epsilon(np.zeros((0, 2)), np.zeros((3, 2))) == np.inf


def test_a_dominated_return_brings_a_run_no_closer():
    """Measured by hand: without (1, 1) the closest to (1, 0) is (2, 2), one of two units away."""
    front = np.array([[1.0, 0.0], [3.0, 2.0]])
    problem = Problem(np.zeros(2), front)
    both = np.array([[2.0, 2.0], [1.0, 1.0]])
    assert METRICS["epsilon"](both, problem) == METRICS["epsilon"](both[:1], problem) == 1.0
    assert METRICS["epsilon_mean"](both, problem) == METRICS["epsilon_mean"](both[:1], problem)
    assert epsilon(both, front) == 0.5
