"""Compromises, against arithmetic by hand and against the definition tried on every point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from made_runs import TREASURES
from pcn.pareto import balanced, knee, nearest_point, non_dominated_mask, shares
from pcn.pareto.compromise import unit_ranges

fronts = arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.integers(2, 4)),
    elements=st.integers(0, 8).map(float),  # a coarse grid makes ties common
).map(lambda points: points[non_dominated_mask(points)])


def ratios(front):
    """For each point, how many times its gain the cheapest move to another point loses."""
    extent = np.ptp(front, axis=0)
    scaled = front[:, extent > 0] / extent[extent > 0]
    found = []
    for one in scaled:
        moves = [np.maximum(other - one, 0).sum() for other in scaled]
        losses = [np.maximum(one - other, 0).sum() for other in scaled]
        rated = [loss / gain for gain, loss in zip(moves, losses, strict=True) if gain > 0]
        found.append(min(rated, default=np.inf))
    return np.array(found)


def test_the_knee_by_hand():
    """Shares (0, 1), (0.5, 0.9), (0.8, 0.5), (1, 0): sums 1, 1.4, 1.3, 1.

    Moves from the second gain 0.1, 0.3 and 0.5, and lose 0.5, 0.4 and 0.9.
    """
    front = np.array([[0.0, 20.0], [5.0, 19.0], [8.0, 15.0], [10.0, 10.0]])
    found = knee(front)
    assert found is not None
    assert found.point == 1
    assert found.ratio == pytest.approx(0.4 / 0.3)


def test_a_concave_front_has_no_knee():
    """Deep Sea Treasure: every policy between the first and the last lies below their line."""
    assert knee(TREASURES) is None


@given(fronts)
def test_a_knee_is_the_only_point_that_every_move_leaves_at_a_loss(front):
    found, by_definition = knee(front), ratios(front)
    distinct = np.unique(front, axis=0)
    if len(distinct) == 1:
        assert found is None
        return
    uneven = by_definition > 1 + 1e-6
    if found is None:
        assert not uneven.any()
    else:
        assert by_definition[found.point] == pytest.approx(found.ratio)
        assert np.all(np.all(front[uneven] == front[found.point], axis=1))


def test_balanced_by_hand():
    """Treasure 16 at time 9 reaches 15/123 = 12.2 % and 10/18; 24 at 13: 18.7 % and 6/18.

    50 at 14 reaches 39.8 % and 5/18 = 27.8 %, 74 at 17 only 2/18: 27.8 % is the best.
    """
    found = balanced(TREASURES)
    assert found is not None
    assert (found.point, found.weakest) == (7, 1)
    assert found.share == pytest.approx(5 / 18)


@given(fronts)
def test_no_point_has_a_stronger_weakest_objective_than_the_balanced_one(front):
    found, lowest = balanced(front), shares(front).min(axis=1)
    if found is None:
        assert lowest.max() == 0 or len(np.unique(front, axis=0)) == 1
    else:
        assert lowest[found.point] == lowest.max() == found.share
        tied = lowest == lowest.max()
        totals = shares(front).sum(axis=1)
        assert totals[found.point] == totals[tied].max()


def test_nothing_is_suggested_for_one_policy_or_two():
    for front in (np.zeros((0, 2)), np.array([[1.0, 2.0]]), np.array([[1.0, 3.0], [2.0, 1.0]])):
        assert knee(front) is None
        assert balanced(front) is None


def test_the_nearest_point_counts_in_units_of_the_range():
    """(60, -15) to (50, -14): 10/123 and 1/18; to (74, -17): 14/123 and 2/18."""
    index, distance = nearest_point(np.array([60.0, -15.0]), TREASURES)
    assert index == 7
    assert distance == pytest.approx(10 / 123)


def test_ranges_below_one_are_ranges_too():
    front = np.array([[0.0, 5.0, 0.25], [0.5, 5.0, 0.0]])
    assert unit_ranges(front).tolist() == [0.5, 1.0, 0.25]
    # 0.6 and 0.2 of the ranges from the first point, 0.4 and 0.8 from the second.
    assert nearest_point(np.array([0.3, 5.0, 0.2]), front) == (0, pytest.approx(0.6))
