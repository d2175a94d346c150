import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.metrics import METRICS, Problem, gini, sen_welfare, worst_off
from pcn.pareto import Lorenz

gains = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(0, 100)
)


def test_gini_of_a_textbook_example():
    # Incomes 1 2 3 4: sum of differences 2 (1+2+3+1+2+1) = 20, over 2 n^2 mean = 80.
    assert gini(np.array([[1.0, 2.0, 3.0, 4.0]])) == pytest.approx(20 / 80)


@given(gains)
def test_sen_welfare_is_the_mean_without_its_unequal_part(points):
    np.testing.assert_allclose(
        sen_welfare(points), points.mean(axis=1) * (1 - gini(points)), atol=1e-9
    )


@given(gains)
def test_welfare_lies_between_the_worst_off_and_the_mean(points):
    assert np.all(worst_off(points) <= sen_welfare(points) + 1e-9)
    assert np.all(sen_welfare(points) <= points.mean(axis=1) + 1e-9)


def test_metrics_measure_what_is_above_the_reference_point():
    problem = Problem(np.array([-10.0, -10.0]), one_unit=True)
    returns = np.array([[-8.0, -8.0], [-4.0, -9.0], [-9.0, -9.0]])  # gains 2 2, 6 1, 1 1
    assert METRICS["worst_off"](returns, problem) == 2
    assert METRICS["sen_welfare"](returns, problem) == pytest.approx((6 + 1 + 1 + 1) / 4)
    # The last one is dominated. Six and one: 2 * 5 / (2 * 4 * 3.5).
    assert METRICS["gini"](returns, problem) == pytest.approx((0 + 10 / 28) / 2)


def test_an_order_decides_whose_gini_and_how_many_policies_count():
    problem = Problem(np.zeros(2), one_unit=True, order=Lorenz())
    returns = np.array([[3.0, 3.0], [1.0, 5.0], [0.0, 7.0]])  # the second gives nobody more
    assert METRICS["cardinality"](returns, problem) == 2
    assert METRICS["gini"](returns, problem) == pytest.approx((0 + 0.5) / 2)
