import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.metrics import maximum_utility_loss

quick = settings(max_examples=50, deadline=None)

FAMILIES = ["mixed", "linear", "chebyshev", "cobb-douglas"]

num_objectives = st.shared(st.integers(1, 4), key="objectives")
return_sets = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), num_objectives),
    elements=st.integers(-2, 6).map(float),
)


def loss(returns, front, family, **options):
    size = returns.shape[1]
    bounds = np.zeros(size), np.full(size, 4.0)
    return maximum_utility_loss(returns, front, *bounds, family=family, **options)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_quarter_less_everywhere_loses_a_quarter(family):
    assert loss(np.full((1, 3), 3.0), np.full((1, 3), 4.0), family) == pytest.approx(0.25)


def test_the_unluckiest_linear_user_wants_only_what_is_missing():
    front = np.array([[0.0, 4.0], [4.0, 0.0]])
    measured = loss(front[:1], front, "linear", num_utilities=20_000)
    assert measured == pytest.approx(1.0, abs=0.001)


@given(return_sets, st.sampled_from(FAMILIES))
@quick
def test_the_front_itself_loses_nothing(front, family):
    assert loss(front, front, family) == 0
    assert loss(front, front, family, rng=np.random.default_rng(3)) == 0


@given(return_sets, return_sets, return_sets, st.sampled_from(FAMILIES))
@quick
def test_another_return_never_makes_it_worse(returns, more, front, family):
    both = np.concatenate([returns, more])
    assert loss(both, front, family) <= loss(returns, front, family) + 1e-12
