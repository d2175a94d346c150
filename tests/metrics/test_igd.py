import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.metrics import METRICS, Problem, igd

quick = settings(max_examples=50, deadline=None)

num_objectives = st.shared(st.integers(1, 4), key="objectives")
return_sets = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), num_objectives),
    elements=st.integers(-5, 5).map(float),
)

FIGURE_FRONT = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0]])
FIGURE_COVERAGE_SET = np.array([[0.5, 3.0], [0.75, 2.3], [2.3, 1.0], [3.3, 0.7]])


def test_the_papers_figure():
    # (1, 4) to (0.5, 3), (2, 2) to (2.3, 1), (4, 1) to (3.3, 0.7).
    distances = [np.hypot(0.5, 1), np.hypot(0.3, 1), np.hypot(0.7, 0.3)]
    assert igd(FIGURE_COVERAGE_SET, FIGURE_FRONT) == pytest.approx(sum(distances) / 3)
    # Both objectives of the front range from 1 to 4.
    normalised = igd(FIGURE_COVERAGE_SET, FIGURE_FRONT, normalise=True)
    assert normalised == pytest.approx(sum(distances) / 3 / 3)


@given(return_sets, return_sets)
@quick
def test_igd_equals_the_definition_written_as_loops(returns, front):
    slow = np.mean([min(np.linalg.norm(wanted - point) for point in returns) for wanted in front])
    assert igd(returns, front) == pytest.approx(slow)


@given(return_sets)
@quick
def test_the_front_itself_is_at_distance_zero(front):
    assert igd(front, front) == igd(front, front, normalise=True) == 0


@given(return_sets, return_sets, return_sets)
@quick
def test_another_return_never_makes_it_worse(returns, more, front):
    assert igd(np.concatenate([returns, more]), front) <= igd(returns, front)


def test_the_empty_set_is_infinitely_far():
    assert igd(np.zeros((0, 2)), np.zeros((3, 2))) == np.inf


def test_an_empty_front_is_refused():
    with pytest.raises(ValueError, match="front has no points"):
        igd(np.zeros((1, 2)), np.zeros((0, 2)))


def test_a_dominated_return_brings_a_run_no_closer():
    """By hand: (2, 2) is 5**0.5 from (1, 0) and 1 from (3, 2); (1, 1) would be closer to (1, 0)."""
    problem = Problem(np.zeros(2), np.array([[1.0, 0.0], [3.0, 2.0]]))
    both = np.array([[2.0, 2.0], [1.0, 1.0]])
    assert METRICS["igd"](both, problem) == pytest.approx((5**0.5 + 1) / 2)
