"""What `metrics.json` says of executions that the budget stopped."""

import dataclasses

import numpy as np

from pcn.coverage import CoverageSet
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.pareto.orders import PARETO, Lorenz, Scaled
from pcn.runs.measures import ALL_STOPPED, NOT_EXECUTED, metrics_of, problem_of

SPEC = DeepSeaTreasure().spec
RETURNS = np.array([[1.0, -1.0], [2.0, -3.0], [3.0, -5.0]])
EXECUTED = CoverageSet(RETURNS, np.array([1.0, 3.0, 5.0]), RETURNS, np.zeros((3, 2)))


def test_commands_whose_executions_were_stopped_count_as_missed():
    metrics = metrics_of(dataclasses.replace(EXECUTED, num_stopped=1), SPEC)
    assert metrics["stopped"] == 1
    assert metrics["fidelity"] == {"exact": 3 / 4, "distance": 1 / 4}
    whole = metrics_of(EXECUTED, SPEC)
    assert "stopped" not in whole
    assert metrics["executed"] == whole["executed"]
    assert whole["fidelity"] == {"exact": 1.0, "distance": 0.0}


def test_where_all_were_stopped_nothing_is_called_executed():
    lengths = np.array([1.0, 3.0, 5.0])
    stopped = CoverageSet.unexecuted(RETURNS, lengths, tolerances=0.0, num_stopped=3)
    metrics = metrics_of(stopped, SPEC)
    assert metrics["not_executed"] == ALL_STOPPED
    assert metrics["executed"] == metrics["fidelity"] == {}
    assert metrics["archive"]["hypervolume"] > 0
    never = CoverageSet.unexecuted(RETURNS, lengths, tolerances=0.0)
    assert metrics_of(never, SPEC)["not_executed"] == NOT_EXECUTED
    assert stopped.taking(1).num_stopped == 0


def test_a_front_that_is_only_claimed_is_not_measured_against():
    claimed = dataclasses.replace(SPEC.front, status="claimed")
    assert problem_of(dataclasses.replace(SPEC, front=claimed), 0.0).front is None
    assert problem_of(dataclasses.replace(SPEC, front=None), 0.0).front is None
    np.testing.assert_array_equal(problem_of(SPEC, 0.0).front, SPEC.front.returns)


def test_fairness_is_measured_where_objectives_share_a_unit_and_are_compared_in_it():
    objective = dataclasses.replace(SPEC.objectives[0], unit="euro")
    spec = dataclasses.replace(SPEC, objectives=(objective, objective))
    assert problem_of(spec, 0.0, PARETO).one_unit
    assert not problem_of(spec, 0.0, Scaled(PARETO, (0.0, 0.0), (1.0, 2.0))).one_unit
    assert not problem_of(SPEC, 0.0, PARETO).one_unit


def test_in_a_fair_order_the_fair_part_of_the_front_is_measured_against():
    unfair = dataclasses.replace(SPEC.front, returns=np.array([[0.0, 9.0], [5.0, 5.0], [6.0, 4.5]]))
    spec = dataclasses.replace(SPEC, front=unfair)
    assert problem_of(spec, 0.0, Lorenz()).front.tolist() == [[5.0, 5.0], [6.0, 4.5]]
    assert len(problem_of(spec, 0.0, PARETO).front) == 3
