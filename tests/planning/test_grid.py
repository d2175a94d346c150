"""Cells of a grid, by hand and against NumPy's histogram."""

import jax.numpy as jnp
import numpy as np

from pcn.episodes import Episodes
from pcn.planning.counting import TransitionCounts
from pcn.planning.grid import Grid


def test_observations_go_to_the_centre_of_their_cell():
    grid = Grid(np.array([0.0]), np.array([10.0]), np.array([5]))
    seen = np.array([[0.0], [1.9], [2.0], [9.99], [10.0], [-3.0], [99.0]], np.float32)
    centres = grid.centres(seen)
    np.testing.assert_allclose(centres[:, 0], [1, 1, 3, 9, 9, 1, 9])
    assert centres.dtype == np.float32


def test_as_many_observations_in_a_cell_as_numpy_counts():
    rng = np.random.default_rng(0)
    seen = rng.normal(size=(500, 2))
    grid = Grid.over(seen, most_cells=36, most_along=64)
    assert grid.counts.tolist() == [6, 6]
    _, counts = np.unique(grid.centres(seen), axis=0, return_counts=True)
    expected = np.histogram2d(*seen.T, bins=6)[0].ravel()
    assert sorted(counts) == sorted(expected[expected > 0])


def test_a_number_that_never_changes_has_a_cell():
    grid = Grid.over(np.full((3, 1), 7.0), most_cells=9, most_along=4)
    assert len(np.unique(grid.centres(np.full((3, 1), 7.0)))) == 1


def walks(levels):
    """Two episodes of three steps that see other numbers in the same cells."""
    levels = np.array(levels, np.float32)[..., None]
    return Episodes(
        observations=jnp.asarray(levels[:, :3]),
        last_observations=jnp.asarray(levels[:, 3]),
        actions=jnp.zeros((2, 3, 1), jnp.int32),
        rewards=jnp.ones((2, 3, 2), jnp.float32),
        lengths=jnp.array([3, 3]),
        terminated=jnp.array([True, True]),
    )


def test_counts_with_a_grid_repeat_where_observations_do_not():
    levels = [[0.1, 1.1, 2.1, 3.1], [0.2, 1.2, 2.2, 3.2]]
    grid = Grid(np.array([0.0]), np.array([4.0]), np.array([4]))
    plain = TransitionCounts(np.zeros(1, np.float32), (1,), 2)
    coarse = TransitionCounts(np.zeros(1, np.float32), (1,), 2, grid=grid)
    for counts in (plain, coarse):
        counts.add(walks(levels))
    assert (plain.num_states, coarse.num_states) == (8, 4)
    assert coarse.visits.tolist() == [2, 2, 2]
    again = TransitionCounts(np.zeros(1, np.float32), (1,), 2)
    again.from_arrays(coarse.to_arrays())
    seen = walks(levels).observations
    np.testing.assert_array_equal(again.states_of(seen, 3), coarse.states_of(seen, 3))
    assert (again.states_of(seen, 3) >= 0).all()
