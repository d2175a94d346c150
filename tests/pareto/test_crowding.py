import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.pareto.crowding import crowding_distance

quick = settings(max_examples=50, deadline=None)

return_sets = arrays(
    np.float64,
    st.tuples(st.integers(1, 20), st.integers(1, 4)),
    elements=st.integers(-5, 5).map(float),  # a coarse grid makes ties common
)

# The paper's figure of the dominating score; the last point is the solid black one.
FIGURE = np.array(
    [[1, 1], [1.6, 2.8], [2.5, 3], [2.9, 2], [2.7, 2.9], [2, 4], [3, 3], [4, 1], [1.9, 3.5]]
)


def slow_crowding(returns, normalise):
    num_points, num_objectives = returns.shape
    total = [0.0] * num_points
    for objective in range(num_objectives):
        values = returns[:, objective].tolist()
        order = sorted(range(num_points), key=lambda i: (values[i], i))
        extent = max(values) - min(values)
        for place, point in enumerate(order):
            is_extremum = place in (0, num_points - 1)
            gap = extent if is_extremum else values[order[place + 1]] - values[order[place - 1]]
            total[point] += (gap / extent if extent else 0.0) if normalise else gap
    return np.array(total)


def test_the_black_point_of_the_papers_figure():
    # Horizontally between 1.6 and 2, vertically between 3 and 4.
    assert crowding_distance(FIGURE, normalise=False)[-1] == pytest.approx(0.4 + 1.0)
    # Both objectives range from 1 to 4.
    assert crowding_distance(FIGURE)[-1] == pytest.approx(0.4 / 3 + 1.0 / 3)


def test_extrema_of_the_papers_figure_get_the_whole_range():
    # (2, 4): between 1.9 and 2.5, and the highest of range 3.
    assert crowding_distance(FIGURE, normalise=False)[5] == pytest.approx(0.6 + 3)
    assert crowding_distance(FIGURE)[5] == pytest.approx(0.6 / 3 + 1)
    # (1, 1): the leftmost, and of the two lowest the one stored first.
    assert crowding_distance(FIGURE)[0] == pytest.approx(2)
    # (4, 1): the rightmost; vertically between (1, 1) and (2.9, 2).
    assert crowding_distance(FIGURE)[7] == pytest.approx(1 + 1.0 / 3)


@given(return_sets.filter(lambda returns: len(returns) > 1), st.booleans())
@quick
def test_crowding_distance_equals_the_algorithm_written_as_loops(returns, normalise):
    np.testing.assert_allclose(
        crowding_distance(returns, normalise=normalise), slow_crowding(returns, normalise)
    )


@given(return_sets, st.sampled_from([1 / 64, 4.0]), st.integers(-9, 9))
@quick
def test_normalised_crowding_does_not_depend_on_units(returns, scale, shift):
    np.testing.assert_allclose(
        crowding_distance(returns * scale + shift), crowding_distance(returns)
    )


def test_tied_points_are_neighbours_in_stored_order():
    returns = np.array([[0.0], [1.0], [1.0], [1.0], [4.0]])
    # Neighbours: the first 1 has 0 and 1, the middle one 1 and 1, the last one 1 and 4.
    assert crowding_distance(returns, normalise=False).tolist() == [4, 1, 0, 3, 4]


def test_an_objective_without_range_adds_nothing():
    returns = np.array([[0.0, 7.0], [1.0, 7.0], [4.0, 7.0]])
    np.testing.assert_array_equal(crowding_distance(returns), crowding_distance(returns[:, :1]))


def test_a_lone_point_is_an_extremum_in_every_objective():
    assert crowding_distance(np.array([[3.0, 4.0]])).tolist() == [2]
    assert crowding_distance(np.zeros((0, 2))).shape == (0,)
