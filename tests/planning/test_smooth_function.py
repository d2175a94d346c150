"""A smooth function fitted to what is known exactly."""

import numpy as np

from pcn.planning.smooth_function import fit_smooth_function


def test_noise_is_averaged_out():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-2, 2, size=(20_000, 2))
    truth = np.column_stack([100 + np.abs(rows[:, 0]), 1e-3 * rows[:, 0] * rows[:, 1]])
    spread = truth.std(axis=0)
    function = fit_smooth_function(
        rows, truth + spread * rng.normal(size=truth.shape), rng, updates=600
    )
    miss = (function.at(rows) - truth) / spread
    assert np.sqrt((miss**2).mean(axis=0)).max() < 0.15  # a single outcome misses by 1


def test_what_never_changes_is_foreseen():
    rows = np.column_stack([np.arange(50.0), np.full(50, 3.0)])
    function = fit_smooth_function(
        rows, np.full((50, 1), 7.0), np.random.default_rng(0), updates=200
    )
    np.testing.assert_array_equal(function.at(rows), 7.0)
