from dataclasses import replace

import numpy as np

from pcn.coverage import CoverageSet, agreeing_mask
from pcn.pareto.orders import Stochastic
from pcn.single_returns import SingleReturns


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


def test_without_a_tolerance_every_difference_counts():
    returns = np.array([[1.0, 3.0], [1.5, 2.5], [1.6, 2.9]])
    coverage_set = CoverageSet(returns, np.ones(3), returns, np.zeros_like(returns))
    assert coverage_set.front_mask.tolist() == [True, False, True]


def test_noise_below_the_tolerance_dominates_nothing():
    executed = [[1.0, 3.0], [1.0, 3.0 + 1e-6]]
    assert coverage_of(executed).front_mask.tolist() == [False, True]
    assert coverage_of(executed, tolerance=1e-3).front_mask.tolist() == [True, True]


def test_taking_one_policy_keeps_all_that_is_known_of_it():
    singles = SingleReturns((np.array([[1.0], [3.0]]), np.array([[5.0], [5.0], [8.0]])))
    both = CoverageSet.measured(
        np.array([[2.0], [6.0]]), np.array([4.0, 9.0]), singles, tolerances=0.5
    )
    one = both.taking(1)
    assert len(one) == 1
    assert one.executed.tolist() == [[6.0]]
    assert one.horizons.tolist() == [9.0]
    assert one.executions.tolist() == [3]
    assert one.margin.tolist() == both.margin[1:].tolist()
    assert one.low.tolist() == both.low[1:].tolist()
    assert one.tolerances == 0.5
    assert one.singles.by_policy[0].tolist() == [[5.0], [5.0], [8.0]]


def test_means_agree_where_they_differ_by_no_more_than_both_margins_together():
    # Margins of 3 and 4 make one of 5; one objective that differs by more is enough.
    one = replace(coverage_of([[0.0, 0.0]] * 4), margin=np.full((4, 2), 3.0))
    shifted = coverage_of([[5.0, 0.0], [0.0, -5.0], [5.1, 0.0], [0.0, -5.1]])
    other = replace(shifted, margin=np.full((4, 2), 4.0))
    assert agreeing_mask(one, other).tolist() == [True, True, False, False]


def test_means_without_margins_agree_within_the_tolerance():
    one, other = coverage_of([[0.0, 0.0]] * 2, tolerance=0.5), coverage_of([[0.5, 0.0], [0.6, 0.0]])
    assert agreeing_mask(one, other).tolist() == [True, False]


def test_a_policy_that_was_executed_once_is_as_uncertain_as_the_least_certain_of_the_others():
    singles = SingleReturns((np.array([[1.0, 2.0]]), np.array([[5.0, 5.0], [7.0, 5.0]])))
    both = CoverageSet.measured(np.zeros((2, 2)), np.ones(2), singles, tolerances=0.0)
    assert both.executions.tolist() == [1, 2]
    assert both.margin[1, 0] > 0
    assert both.margin[0].tolist() == both.margin[1].tolist()
    assert both.is_repeated
    assert not both.taking(0).is_repeated


def test_a_recorded_front_counts_only_where_the_order_needs_what_a_file_does_not_hold():
    recorded = np.array([False, True, False])
    pareto = replace(coverage_of([[1.0, 3.0], [0.0, 3.0], [2.0, 2.0]]), recorded_front=recorded)
    assert pareto.front_mask.tolist() == [True, False, True]
    by_samples = replace(pareto, order=Stochastic())
    assert by_samples.front_mask.tolist() == recorded.tolist()


def test_one_tolerance_counts_for_every_objective():
    each = np.array([0.5, 2.0])
    assert coverage_of([[1.0, 3.0]], tolerance=0.5).tolerance_vector.tolist() == [0.5, 0.5]
    assert coverage_of([[1.0, 3.0]], tolerance=each).tolerance_vector.tolist() == [0.5, 2.0]
