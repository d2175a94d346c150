import numpy as np
import pytest

from pcn.pareto import best_first, spread_out


def arc(count):
    angles = np.linspace(0, np.pi / 2, count)
    return np.stack([np.cos(angles), np.sin(angles)], 1)


@pytest.mark.parametrize("order_of", [best_first, lambda front: spread_out(front, len(front))])
def test_every_beginning_of_the_order_is_spread_over_the_front(order_of):
    order = order_of(arc(101))
    assert sorted(order.tolist()) == list(range(101))
    assert set(order[:3].tolist()) == {0, 50, 100}
    gaps = np.diff(np.sort(order[:9]))
    assert gaps.max() <= 25


def test_dominated_points_come_last():
    points = np.array([[0.0, 0.0], [0.0, 4.0], [3.0, 0.5], [4.0, 1.0]])
    # (3, 0.5) is one step from (4, 1); the origin is far from everything.
    assert best_first(points).tolist() == [3, 1, 2, 0]


def test_the_best_sum_is_kept_before_the_farthest_vector():
    # (0.95, 0.4) has the best sum, 1.35, but (0.5, 0.5) is farther from both extremes.
    vectors = np.array([[0.0, 1.0], [1.0, 0.0], [0.95, 0.4], [0.5, 0.5]])
    assert spread_out(vectors, 3).tolist() == [1, 0, 2]
    assert best_first(vectors)[:3].tolist() == [1, 0, 3]


def test_equal_extremes_are_told_apart_by_their_sum():
    vectors = np.array([[1.0, 0.0, 0.2], [1.0, 0.0, 0.9], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert spread_out(vectors, 1).tolist() == [1]
