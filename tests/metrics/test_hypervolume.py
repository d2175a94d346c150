import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.errors import UserError
from pcn.metrics import hypervolume

quick = settings(max_examples=15, deadline=None)

TREASURES = [1, 2, 3, 5, 8, 16, 24, 50, 74, 124]
TIMES = [-1, -3, -5, -7, -8, -9, -13, -14, -17, -19]
DEEP_SEA_TREASURE = np.array([TREASURES, TIMES], dtype=float).T


def count_cells(returns, highest):
    """Count the unit cells between zero and the returns: their volume, on an integer grid."""
    corners = np.array(list(product(range(1, highest + 1), repeat=returns.shape[1])))
    return sum(bool(np.any(np.all(returns >= corner, axis=1))) for corner in corners)


def test_two_overlapping_boxes():
    front = np.array([[1.0, 3.0], [2.0, 2.0]])  # boxes 1x3 and 2x2, sharing 1x2
    assert hypervolume(front, np.zeros(2)) == 3 + 4 - 2


def test_the_papers_figure():
    reference_point = np.array([-0.5, 0.0])
    front = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0]])
    coverage_set = np.array([[0.5, 3.0], [0.75, 2.3], [2.3, 1.0], [3.3, 0.7]])
    # Slices from left to right, width x height.
    assert hypervolume(front, reference_point) == pytest.approx(1.5 * 4 + 1 * 2 + 2 * 1)
    assert hypervolume(coverage_set, reference_point) == pytest.approx(
        1 * 3 + 0.25 * 2.3 + 1.55 * 1 + 1 * 0.7
    )


@pytest.mark.parametrize(("time", "volume"), [(-200, 22855), (-50, 4255), (-25, 1155)])
def test_the_complete_front_of_deep_sea_treasure(time, volume):
    assert hypervolume(DEEP_SEA_TREASURE, np.array([0.0, time])) == volume


def test_deep_sea_treasure_without_its_second_largest_treasure():
    incomplete = DEEP_SEA_TREASURE[DEEP_SEA_TREASURE[:, 0] != 74]
    # What is lost lies between treasures 50 and 74 and times -17 and -19.
    assert hypervolume(incomplete, np.array([0.0, -200.0])) == 22855 - (74 - 50) * (19 - 17)


@pytest.mark.parametrize("num_objectives", [1, 2, 3, 4, 5])
@given(data=st.data())
@quick
def test_volume_is_the_number_of_cells(num_objectives, data):
    grid = arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.just(num_objectives)),
        elements=st.integers(-1, 3).map(float),
    )
    returns = data.draw(grid)
    assert hypervolume(returns, np.zeros(num_objectives)) == count_cells(returns, highest=3)


@pytest.mark.parametrize("num_objectives", [6, 7, 9])
def test_volume_is_the_number_of_cells_in_many_objectives(num_objectives):
    pytest.importorskip("pygmo")
    rng = np.random.default_rng(num_objectives)
    for _ in range(5):
        returns = rng.integers(-1, 3, (20, num_objectives)).astype(float)
        returns[:5] = np.maximum(returns[:5], 1.0)  # something to measure, whatever was drawn
        volume = hypervolume(returns, np.zeros(num_objectives))
        assert volume == pytest.approx(count_cells(returns, highest=2))


@pytest.mark.parametrize("num_objectives", [2, 3, 4, 5])
def test_both_libraries_agree(num_objectives):
    pygmo = pytest.importorskip("pygmo")
    returns = np.random.default_rng(0).random((30, num_objectives))
    expected = pygmo.hypervolume(-returns).compute(np.zeros(num_objectives))
    assert hypervolume(returns, np.zeros(num_objectives)) == pytest.approx(expected)


def test_single_precision_is_measured_too():
    pytest.importorskip("pygmo")
    assert hypervolume(np.ones((1, 6), dtype=np.float32), np.zeros(6, dtype=np.float32)) == 1


def test_points_no_better_than_the_reference_point_add_nothing():
    beside = np.array([[5.0, 0.0], [-1.0, 9.0]])
    assert hypervolume(beside, np.zeros(2)) == 0
    inside = np.array([[2.0, 3.0]])
    assert hypervolume(np.concatenate([beside, inside]), np.zeros(2)) == 2 * 3


def test_the_empty_set_has_no_volume():
    assert hypervolume(np.zeros((0, 3)), np.zeros(3)) == 0


def test_reference_point_of_another_problem():
    with pytest.raises(ValueError, match="reference_point has 2 objectives, returns have 3"):
        hypervolume(np.ones((1, 3)), np.zeros(2))


def test_nan_is_refused_and_does_not_count_as_nothing():
    with pytest.raises(ValueError, match="got NaN"):
        hypervolume(np.array([[np.nan, 1.0], [2.0, 2.0]]), np.zeros(2))
    with pytest.raises(ValueError, match="got NaN"):
        hypervolume(np.ones((1, 2)), np.array([0.0, np.nan]))


def test_many_objectives_without_pygmo_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygmo", None)
    with pytest.raises(UserError, match=r"7 objectives needs pygmo: install pcn\[many\]"):
        hypervolume(np.ones((1, 7)), np.zeros(7))


def test_six_objectives_do_without_pygmo(monkeypatch):
    points = np.random.default_rng(0).uniform(1, 3, (40, 6))
    exact = hypervolume(points, np.zeros(6))
    monkeypatch.setitem(sys.modules, "pygmo", None)
    assert hypervolume(points, np.zeros(6)) == pytest.approx(exact, rel=1e-9)
