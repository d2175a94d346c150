import numpy as np
import pytest

from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.pareto import AUTHORS_INTERVALS, lattice_points, num_lattice_points


@pytest.mark.parametrize(("num_objectives", "expected"), [(2, 13), (3, 78), (4, 286), (5, 715)])
def test_there_are_as_many_as_in_the_authors_runs(num_objectives, expected):
    intervals = AUTHORS_INTERVALS[num_objectives]
    weights = lattice_points(num_objectives, intervals)
    assert len(weights) == num_lattice_points(num_objectives, intervals) == expected
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert len(np.unique(weights.round(9), axis=0)) == expected
    assert weights.min() == 0


def test_no_weights_prefer_the_concave_part_of_deep_sea_treasure():
    """Why RA finds two of ten: every other treasure lies below the line between the extrema."""
    front = DeepSeaTreasure().spec.front.returns
    scaled = front / (front.max(axis=0) - front.min(axis=0))
    preferred = np.unique((lattice_points(2, 1000) @ scaled.T).argmax(axis=1))
    np.testing.assert_array_equal(front[preferred], [[1.0, -1.0], [124.0, -19.0]])
