"""Which episodes are worth learning, by their expected returns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.algorithms.pcn.refinements.expecting.expected_labels import ranked
from pcn.pareto import non_dominated_mask

RULES = {"num_commands": 5, "most_copies": 2, "tolerance": 0.01}


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 40), st.integers(1, 3)),
        elements=st.integers(-3, 3).map(float),
    )
)
def test_the_archive_has_each_non_dominated_return_once(returns):
    ranking = ranked(returns, capacity=100, **RULES)
    front = np.unique(returns[non_dominated_mask(returns)], axis=0)
    np.testing.assert_array_equal(np.unique(returns[ranking.archive], axis=0), front)
    assert len(ranking.archive) == len(front)
    chosen = returns[ranking.commands]
    assert len(np.unique(chosen, axis=0)) == len(chosen) <= 5


def test_more_episodes_than_fit_are_ranked_in_parts():
    rng = np.random.default_rng(0)
    returns = rng.normal(size=(1_500, 2)).round(2)
    ranking = ranked(returns, capacity=60, **RULES)
    assert len(ranking.best) == 60
    scaled = returns / np.ptp(returns, axis=0)
    front = scaled[non_dominated_mask(scaled)]
    for point in front:  # up to the tolerance, the archive has all of the front
        assert np.abs(scaled[ranking.archive] - point).max(axis=1).min() < 0.02


def test_estimates_closer_than_the_tolerance_are_copies():
    returns = np.array([[0.0, 1.0], [1.0, 0.0], [0.999, 0.001], [0.0, 0.5]])
    ranking = ranked(returns, capacity=10, **RULES)
    np.testing.assert_array_equal(np.sort(ranking.archive), [0, 1])
