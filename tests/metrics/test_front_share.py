import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.metrics import found_mask, front_share

sets = st.integers(1, 3).flatmap(
    lambda objectives: st.tuples(
        *(
            arrays(
                np.float64,
                st.tuples(st.integers(least, 6), st.just(objectives)),
                elements=st.integers(0, 4).map(float),
            )
            for least in (0, 1)
        )
    )
)


@given(sets)
def test_a_point_is_found_when_it_is_among_the_returns(pair):
    returns, front = pair
    reached = {tuple(row) for row in returns.tolist()}
    expected = [tuple(row) in reached for row in front.tolist()]
    assert found_mask(returns, front, tolerances=1e-3).tolist() == expected
    assert front_share(returns, front) == sum(expected) / len(expected)


def test_the_tolerance_holds_for_each_objective():
    front = np.array([[1.0, 1.0]])
    assert front_share(np.array([[1.001, 0.999]]), front, tolerances=0.0015) == 1.0
    assert front_share(np.array([[1.0, 0.99]]), front, tolerances=0.0015) == 0.0


def test_better_than_a_point_of_the_front_is_not_that_point():
    assert front_share(np.array([[2.0, 2.0]]), np.array([[1.0, 1.0]])) == 0.0


def test_an_empty_front_is_refused():
    with pytest.raises(ValueError, match="front has no points"):
        front_share(np.zeros((1, 2)), np.zeros((0, 2)))
