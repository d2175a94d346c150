import numpy as np

from pcn.coverage import CoverageSet


def coverage_of(executed, tolerance=0.0):
    executed = np.asarray(executed, dtype=np.float64)
    return CoverageSet(
        requested=executed + 1.0,
        horizons=np.ones(len(executed)),
        executed=executed,
        deviation=np.zeros_like(executed),
        tolerances=tolerance,
    )


def test_the_front_is_of_what_was_executed_not_of_what_was_asked_for():
    coverage_set = coverage_of([[1.0, 3.0], [0.0, 3.0], [2.0, 2.0]])
    assert len(coverage_set) == 3
    assert coverage_set.front_mask.tolist() == [True, False, True]
    assert coverage_set.front.tolist() == [[1.0, 3.0], [2.0, 2.0]]


def test_noise_below_the_tolerance_dominates_nothing():
    executed = [[1.0, 3.0], [1.0, 3.0 + 1e-6]]
    assert coverage_of(executed).front_mask.tolist() == [False, True]
    assert coverage_of(executed, tolerance=1e-3).front_mask.tolist() == [True, True]
