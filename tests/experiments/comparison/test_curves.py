"""Hypervolume while training, over seeds, by hand."""

import numpy as np

from made_runs import evaluations, save_run
from pcn.experiments.comparison.comparison import compare
from pcn.experiments.comparison.curves import GRID, learning_curves


def test_a_curve_is_the_middle_of_what_the_seeds_had_last(tmp_path):
    # Both end at step 100 with hypervolume 5: boxes 1x3 and 2x2, sharing 1x2.
    for seed, volumes in enumerate([((10, 9, 1), (50, 9, 3)), ((20, 9, 2), (60, 9, 4))]):
        progress = evaluations(*volumes)
        save_run(tmp_path / str(seed), [[1, 3], [2, 2]], progress=progress, seed=seed)
    (comparison,), _ = compare([tmp_path])
    curve = learning_curves(comparison, "steps")["pcn"]
    assert len(curve.x) == GRID
    assert (curve.x[0], curve.x[-1]) == (20, 100)  # from where both have been evaluated
    expected = np.where(curve.x < 50, (1 + 2) / 2, np.where(curve.x < 60, (3 + 2) / 2, 3.5))
    expected[-1] = 5
    np.testing.assert_allclose(curve.middle, expected)
    first, last = np.flatnonzero(curve.x < 50)[0], len(curve.x) - 1
    assert (curve.low[first], curve.high[first]) == (1, 2)
    assert (curve.low[last], curve.high[last]) == (5, 5)


def test_seconds_are_those_of_the_evaluations_and_of_the_end(tmp_path):
    save_run(tmp_path / "run", [[1, 3]], progress=evaluations((10, 9, 1)))
    (comparison,), _ = compare([tmp_path])
    curve = learning_curves(comparison, "seconds")["pcn"]
    assert (curve.x[0], curve.x[-1]) == (1.0, 20.0)
    assert np.isnan(curve.low).all()  # one seed has no interval


def test_what_was_measured_from_another_point_is_no_curve(tmp_path):
    save_run(tmp_path / "a", [[1, 3]], reference_point=(0, 0))
    save_run(tmp_path / "b", [[1, 3]], reference_point=(-1, 0), algorithm="ra")
    (comparison,), _ = compare([tmp_path])
    assert list(learning_curves(comparison, "steps")) == ["ra"]
