"""Real numbers that lie on a grid."""

import numpy as np
import pytest

from pcn.algorithms.pcn.refinements.routing.grids import fitted


def single(numbers):
    """As environments show them: rounded to single precision."""
    return np.asarray(numbers, np.float32).astype(np.float64)


@pytest.mark.parametrize("unit", [1 / 13, 1 / 300, 0.02, 1e-4, 7.0, 1e6 / 3])
@pytest.mark.parametrize("origin", [0.0, -1.5])
def test_scaled_whole_numbers_are_found_again(unit, origin):
    levels = np.random.default_rng(0).integers(0, 200, size=(400, 1))
    shown = single(origin * unit + levels * unit)
    grid = fitted(shown)
    np.testing.assert_array_equal(grid.levels(shown), levels - levels.min())
    assert grid.holds(single([[origin * unit + 350 * unit]]))
    assert not grid.holds(single([[origin * unit + 350.4 * unit]]))


@pytest.mark.parametrize("count", [5, 50, 5_000])
def test_continuous_numbers_lie_on_no_grid(count):
    assert fitted(single(np.random.default_rng(count).normal(size=(count, 2)))) is None


def test_what_is_not_a_number_lies_on_no_grid():
    assert fitted(np.array([[0.0], [np.nan]])) is None
    assert fitted(np.array([[0.0], [np.inf]])) is None


def test_a_finer_number_widens_a_grid_and_keeps_what_was_on_it():
    coarse = fitted(single([[0.0, 3.0], [0.4, 3.0]]))
    finer = single([[0.2, 3.5]])
    assert not coarse.holds(finer)
    wide = coarse.widened(finer)
    assert wide.holds(finer)
    assert wide.holds(single([[0.8, 4.0]]))
