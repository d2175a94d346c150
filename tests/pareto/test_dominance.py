from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.pareto.dominance import (
    DominanceCounts,
    dominates,
    non_dominated_mask,
    num_earlier_copies,
    rounded,
    unique_front,
)

quick = settings(max_examples=50, deadline=None)

return_sets = arrays(
    np.float64,
    st.tuples(st.integers(1, 20), st.integers(1, 4)),
    elements=st.integers(-3, 3).map(float),  # a coarse grid makes ties common
)


def slow_num_dominating(returns):
    return np.array([sum(dominates(other, point) for other in returns) for point in returns])


def slow_num_earlier_copies(returns):
    return np.array(
        [np.sum(np.all(returns[:i] == returns[i], axis=1)) for i in range(len(returns))]
    )


def test_dominating_takes_at_least_as_good_everywhere_and_better_somewhere():
    point = np.array([1.0, 2.0])
    assert dominates(np.array([1.0, 3.0]), point)
    assert not dominates(np.array([1.0, 2.0]), point)
    assert not dominates(np.array([0.0, 3.0]), point)
    assert not dominates(np.array([1.0, 1.0]), point)


@given(return_sets)
@quick
def test_non_dominated_mask_equals_the_pairwise_definition(returns):
    np.testing.assert_array_equal(non_dominated_mask(returns), slow_num_dominating(returns) == 0)


@given(return_sets)
@quick
def test_every_dropped_point_is_dominated_by_a_kept_one(returns):
    kept = non_dominated_mask(returns)
    for point in returns[~kept]:
        assert any(dominates(front_point, point) for front_point in returns[kept])


def test_equal_points_are_both_non_dominated():
    assert non_dominated_mask(np.ones((2, 2))).tolist() == [True, True]


def test_the_best_of_one_objective_is_its_maximum():
    assert non_dominated_mask(np.array([[1.0], [3.0], [3.0]])).tolist() == [False, True, True]


def test_no_points_have_an_empty_front():
    assert non_dominated_mask(np.zeros((0, 2))).shape == (0,)
    assert unique_front(np.zeros((0, 2))).shape == (0,)


@given(return_sets)
@quick
def test_unique_front_is_the_set_of_non_dominated_returns_in_lexicographic_order(returns):
    expected = sorted({tuple(point) for point in returns[non_dominated_mask(returns)]})
    assert [tuple(point) for point in returns[unique_front(returns)]] == expected


@given(return_sets)
@quick
def test_unique_front_points_at_the_first_of_equal_points(returns):
    for index in unique_front(returns):
        assert not np.any(np.all(returns[:index] == returns[index], axis=1))


@given(return_sets)
@quick
def test_num_earlier_copies_counts_equal_points_before(returns):
    np.testing.assert_array_equal(num_earlier_copies(returns), slow_num_earlier_copies(returns))


@given(return_sets, st.data())
@quick
def test_counts_stay_right_while_points_come_and_go(returns, data):
    counts, stored = DominanceCounts(returns.shape[1]), returns[:0]
    cut = data.draw(st.integers(0, len(returns)))
    for batch in (returns[:cut], returns[cut:], returns[:3]):
        counts.add(batch)
        stored = np.concatenate([stored, batch])
        mask = np.array(
            data.draw(st.lists(st.booleans(), min_size=len(stored), max_size=len(stored))), bool
        )
        counts.keep(mask)
        stored = stored[mask]
        np.testing.assert_array_equal(counts.returns, stored)
        np.testing.assert_array_equal(counts.num_dominating, slow_num_dominating(stored))
        np.testing.assert_array_equal(counts.num_earlier_copies, slow_num_earlier_copies(stored))
        np.testing.assert_array_equal(counts.non_dominated_mask, non_dominated_mask(stored))
        assert len(counts) == len(stored)


@pytest.mark.parametrize("num_objectives", [2, 3, 9])
def test_counts_are_the_same_in_chunks(num_objectives, monkeypatch):
    monkeypatch.setattr(import_module("pcn.pareto.dominance"), "_MOST_PAIRS_AT_ONCE", 100)
    rng = np.random.default_rng(num_objectives)
    returns = rng.integers(0, 3, (60, num_objectives)).astype(float)
    counts = DominanceCounts(num_objectives)
    counts.add(returns[:10])
    counts.add(returns[10:])
    np.testing.assert_array_equal(counts.num_dominating, slow_num_dominating(returns))
    np.testing.assert_array_equal(counts.num_earlier_copies, slow_num_earlier_copies(returns))
    mask = rng.random(60) < 0.4
    counts.keep(mask)
    np.testing.assert_array_equal(counts.num_dominating, slow_num_dominating(returns[mask]))
    np.testing.assert_array_equal(counts.num_earlier_copies, slow_num_earlier_copies(returns[mask]))


def test_noise_below_the_tolerance_decides_nothing():
    noisy = np.array([[1.0, 2.0], [1.0 + 1e-7, 2.0 - 1e-7], [1.0 + 1e-7, 2.0 + 1e-7]])
    exact, tolerant = DominanceCounts(2), DominanceCounts(2, tolerances=1e-3)
    exact.add(noisy)
    tolerant.add(noisy)
    assert exact.num_dominating.tolist() == [1, 1, 0]
    assert tolerant.num_dominating.tolist() == [0, 0, 0]
    assert tolerant.num_earlier_copies.tolist() == [0, 1, 2]


def test_rounding_goes_to_the_nearest_multiple():
    np.testing.assert_allclose(rounded(np.array([[0.26, -0.9]]), 0.5), [[0.5, -1.0]])
    np.testing.assert_array_equal(rounded(np.array([[0.26, -0.9]]), 0.0), [[0.26, -0.9]])


def test_refusals_name_the_value():
    with pytest.raises(ValueError, match="returns have 3 objectives, expected 2"):
        DominanceCounts(2).add(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="must be finite"):
        DominanceCounts(2).add(np.array([[0.0, np.nan]]))
    with pytest.raises(ValueError, match="at least 1, got 0"):
        DominanceCounts(0)
    with pytest.raises(ValueError, match=r"negative, got -1\.0"):
        rounded(np.zeros((1, 2)), -1.0)
