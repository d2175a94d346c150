import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.metrics import Fidelity, fidelity

quick = settings(max_examples=50, deadline=None)

shape = st.shared(st.tuples(st.integers(1, 8), st.integers(1, 4)), key="shape")
return_sets = arrays(np.float64, shape, elements=st.integers(-5, 5).map(float))

REQUESTED = np.array([[0.0, 10.0], [4.0, 5.0], [8.0, 0.0]])  # ranges 8 and 10


def test_what_was_asked_for_is_exact():
    assert fidelity(REQUESTED, REQUESTED, tolerances=0.0) == Fidelity(exact=1.0, distance=0.0)


def test_more_than_was_asked_for_counts_as_exact():
    assert fidelity(REQUESTED, REQUESTED + np.array([0.0, 3.0]), tolerances=0.0) == Fidelity(
        1.0, 0.0
    )


def test_the_largest_shortfall_counts_whatever_is_gained_elsewhere():
    executed = np.array([[0.0, 10.0], [3.0, 3.0], [2.0, 9.0]])
    # Nothing; 1 of 8 and 2 of 10; 6 of 8.
    measured = fidelity(REQUESTED, executed, tolerances=0.0)
    assert measured.exact == pytest.approx(1 / 3)
    assert measured.distance == pytest.approx((0 + 0.2 + 0.75) / 3)


def test_commands_without_an_executed_return_are_missed_by_the_whole_range():
    executed = np.array([[0.0, 10.0], [3.0, 3.0], [2.0, 9.0]])
    measured = fidelity(REQUESTED, executed, tolerances=0.0, num_missed=2)
    assert measured.exact == pytest.approx(1 / 5)
    assert measured.distance == pytest.approx((0 + 0.2 + 0.75 + 1 + 1) / 5)


def test_ranges_below_one_are_ranges_too():
    requested = np.array([[1.0, 0.5], [1.25, 0.0]])
    measured = fidelity(requested, requested - [0.1, 0.0], tolerances=0.0)
    assert measured.distance == pytest.approx(0.1 / 0.25)


def test_differences_up_to_the_tolerance_are_no_shortfall():
    executed = REQUESTED - 1e-6
    assert fidelity(REQUESTED, executed, tolerances=1e-5) == Fidelity(exact=1.0, distance=0.0)
    assert fidelity(REQUESTED, executed, tolerances=1e-7).exact == 0


def test_a_single_command_has_no_range_and_is_measured_by_its_size():
    measured = fidelity(np.array([[2.0, 2.0]]), np.array([[1.5, 9.0]]), tolerances=0.0)
    assert measured == Fidelity(exact=0.0, distance=0.25)  # 0.5 of 2


@given(return_sets, return_sets)
@quick
def test_exact_commands_are_those_at_least_as_good_everywhere(requested, executed):
    measured = fidelity(requested, executed, tolerances=0.0)
    assert measured.exact == np.mean(np.all(executed >= requested, axis=1))
    assert (measured.distance == 0) == (measured.exact == 1)


@given(return_sets, return_sets)
@quick
def test_executing_better_never_makes_it_worse(requested, executed):
    before = fidelity(requested, executed, tolerances=0.0)
    after = fidelity(requested, np.maximum(executed, requested - 1), tolerances=0.0)
    assert after.exact >= before.exact
    assert after.distance <= before.distance


def test_no_commands_are_refused():
    with pytest.raises(ValueError, match="no commands"):
        fidelity(np.zeros((0, 2)), np.zeros((0, 2)), tolerances=0.0)
