"""What every algorithm must do; entries of `ALGORITHMS` are picked up by themselves."""

import json

import numpy as np
import pytest

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.trainer import Snapshot, too_few_steps
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from sizes import quick

algorithms = pytest.mark.parametrize("name", ALGORITHMS)
BUDGET = 6_000


def make_trainer(name, environment, *, seed, total_steps=BUDGET, **settings):
    algorithm = ALGORITHMS[name]
    config = algorithm.config_class(total_steps=total_steps, **settings)
    return algorithm.trainer(environment, config, seed=seed)


def trained(name, environment, *, seed, **settings):
    trainer = make_trainer(name, environment, seed=seed, **settings)
    while not trainer.done:
        trainer.iterate()
    return trainer.outcome()


def assert_same(one, other):
    """Bit for bit."""
    for part in ("requested", "horizons", "executed", "deviation"):
        np.testing.assert_array_equal(
            getattr(one.coverage_set, part), getattr(other.coverage_set, part)
        )
    assert one.arrays.keys() == other.arrays.keys()
    for key, array in one.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[key], err_msg=key)
    assert one.facts == other.facts


def differ(one, other):
    return any(
        one.arrays[key].shape != other.arrays[key].shape
        or not np.array_equal(one.arrays[key], other.arrays[key])
        for key in one.arrays
    )


@pytest.fixture(scope="module")
def outcomes():
    """Outcomes of short trainings on Deep Sea Treasure, by algorithm and seed."""
    known = {}

    def outcome(name, seed):
        if (name, seed) not in known:
            known[name, seed] = trained(name, DeepSeaTreasure(), seed=seed, **quick(name))
        return known[name, seed]

    return outcome


@pytest.mark.slow
@algorithms
@pytest.mark.parametrize("seed", [100, 101])
def test_both_branches_of_a_fork_end_in_the_coverage_set(name, seed, fork):
    outcome = trained(name, fork, seed=seed, total_steps=1_000)
    front = outcome.coverage_set.front
    assert sorted(set(map(tuple, front.tolist()))) == [(1.0, 3.0), (2.0, 1.0)]


@pytest.mark.slow
@algorithms
def test_the_same_seed_is_the_same_run(name, outcomes):
    assert_same(outcomes(name, 100), trained(name, DeepSeaTreasure(), seed=100, **quick(name)))


@pytest.mark.slow
@algorithms
def test_another_seed_is_another_run(name, outcomes):
    assert differ(outcomes(name, 100), outcomes(name, 101))


@pytest.mark.slow
@algorithms
def test_a_run_that_is_interrupted_ends_as_one_that_is_not(name, outcomes):
    environment = DeepSeaTreasure()
    first = make_trainer(name, environment, seed=100, **quick(name))
    first.iterate()
    first.iterate()
    taken = first.snapshot()
    arrays = {key: np.array(array) for key, array in taken.arrays.items()}
    saved = Snapshot(arrays, json.loads(json.dumps(taken.facts)))
    steps = first.steps
    while not first.done:  # what the first one does next must not reach the snapshot
        first.iterate()
    for key, array in taken.arrays.items():
        np.testing.assert_array_equal(array, arrays[key], err_msg=key)
    second = make_trainer(name, environment, seed=999, **quick(name))
    second.restore(saved)
    assert second.steps == steps < BUDGET
    while not second.done:
        second.iterate()
    assert second.steps == first.steps
    assert_same(second.outcome(), outcomes(name, 100))


@pytest.mark.slow
@algorithms
def test_a_run_that_is_interrupted_at_its_end_ends_as_one_that_is_not(name, outcomes):
    trainer = make_trainer(name, DeepSeaTreasure(), seed=100, **quick(name))
    snapshots = []
    while not trainer.done:
        phase = trainer.iterate().phase
        taken = trainer.snapshot()
        arrays = {key: np.array(array) for key, array in taken.arrays.items()}
        snapshots.append((phase, Snapshot(arrays, json.loads(json.dumps(taken.facts)))))
    last = [snapshot for phase, snapshot in snapshots if phase != "training"]
    assert last, "executing the policies is an iteration, too"
    for snapshot in (last[0], last[len(last) // 2], last[-1]):
        again = make_trainer(name, DeepSeaTreasure(), seed=999, **quick(name))
        again.restore(snapshot)
        while not again.done:
            again.iterate()
        assert again.steps == trainer.steps
        assert_same(again.outcome(), outcomes(name, 100))


@pytest.mark.slow
@algorithms
def test_a_snapshot_before_the_first_iteration_is_a_beginning(name, outcomes):
    begun = make_trainer(name, DeepSeaTreasure(), seed=100, **quick(name)).snapshot()
    trainer = make_trainer(name, DeepSeaTreasure(), seed=999, **quick(name))
    trainer.restore(begun)
    while not trainer.done:
        trainer.iterate()
    assert_same(trainer.outcome(), outcomes(name, 100))


@pytest.mark.slow
@algorithms
def test_executing_again_gives_what_the_run_reported(name, outcomes):
    outcome, algorithm = outcomes(name, 100), ALGORITHMS[name]
    again = algorithm.execute(
        DeepSeaTreasure(),
        algorithm.config_class(total_steps=BUDGET, **quick(name)),
        outcome.arrays,
        outcome.coverage_set,
        executions=1,
        seed=5,
    )
    np.testing.assert_array_equal(again.executed, outcome.coverage_set.executed)


def test_too_few_steps_says_how_long_an_episode_takes_only_where_that_is_more():
    spec = DeepSeaTreasure().spec  # episodes of up to 200 steps
    assert str(too_few_steps(50, spec)).endswith("takes up to 200 steps")
    assert str(too_few_steps(200, spec)).endswith("no episode came to an end")
