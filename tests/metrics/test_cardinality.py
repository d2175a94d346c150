import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.metrics import cardinality
from pcn.pareto import dominates

quick = settings(max_examples=50, deadline=None)

return_sets = arrays(
    np.float64,
    st.tuples(st.integers(0, 12), st.integers(1, 4)),
    elements=st.integers(-3, 3).map(float),
)


@given(return_sets)
@quick
def test_cardinality_is_the_size_of_the_set_of_non_dominated_returns(returns):
    front = {tuple(p) for p in returns if not any(dominates(q, p) for q in returns)}
    assert cardinality(returns) == len(front)


def test_differences_below_the_tolerance_do_not_count():
    returns = np.array([[1.0, 2.0], [1.0 + 1e-7, 2.0 - 1e-7], [2.0, 1.0]])
    assert cardinality(returns) == 3
    assert cardinality(returns, tolerances=1e-3) == 2
