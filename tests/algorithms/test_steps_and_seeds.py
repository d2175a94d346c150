"""What algorithms say they did, against what an environment has seen of it."""

import numpy as np
import pytest

from logged import Gamble, Slip, Wait, Walk, environment
from pcn.algorithms import ALGORITHMS
from sizes import tiny

pytestmark = pytest.mark.slow

algorithms = pytest.mark.parametrize("name", ALGORITHMS)


def trained(name, kind, **changed):
    """A finished trainer, its environment and its config."""
    config = ALGORITHMS[name].config_class.of(tiny(name), changed)
    where = environment(kind)
    trainer = ALGORITHMS[name].trainer(where, config, seed=0)
    while not trainer.done:
        trainer.iterate()
    return trainer, where, config


@algorithms
@pytest.mark.parametrize("total_steps", [60, 300])
@pytest.mark.parametrize("kind", [Walk, Gamble], ids=["deterministic", "stochastic"])
def test_every_step_that_was_taken_is_counted_and_a_budget_is_a_budget(name, kind, total_steps):
    """Those of replays, evaluations, checks and final executions are steps, too."""
    before = len(kind.rewards)
    trainer, *_ = trained(name, kind, total_steps=total_steps)
    assert len(trainer.outcome().coverage_set) > 0
    assert trainer.steps == len(kind.rewards) - before <= total_steps


@pytest.mark.parametrize(("total_steps", "evaluations"), [(100, 0), (1_500, 0), (1_500, 4)])
def test_policies_that_never_end_their_episodes_are_stopped_within_the_budget(
    total_steps, evaluations
):
    """With a network that learns nothing, which may wait for ever."""
    untaught = {"learning_rate": 1e-9, "updates_per_iteration": 1, "evaluations": evaluations}
    sizes = {**untaught, "total_steps": total_steps, "refinements": {}}
    config, stopped = ALGORITHMS["pcn"].config_class.of(tiny("pcn"), sizes), 0
    for seed in (0, 3):
        before = len(Wait.rewards)
        trainer = ALGORITHMS["pcn"].trainer(environment(Wait, step_limit=40), config, seed=seed)
        while not trainer.done:
            trainer.iterate()
        outcome, told = trainer.outcome(), trainer.take_notices()
        result = outcome.coverage_set
        assert trainer.steps == len(Wait.rewards) - before <= total_steps
        assert len(told) == (result.num_stopped > 0)
        assert not told or told[0].startswith(f"{result.num_stopped} of ")
        assert len(result) + result.num_stopped * result.is_executed == len(outcome.archive)
        if result.is_executed:  # at an end of the walk, or at the step limit
            pay, steps = result.executed[:, 0], -result.executed[:, 1]
            assert np.all((pay > 0) | (steps == 40))
        stopped += result.num_stopped
    # What evaluations have shown is kept for the end, so that nothing has to be stopped.
    assert (stopped == 0) == (evaluations > 0)


@pytest.mark.parametrize("refinements", [{}, {"expected_returns": {}}], ids=["paper", "raced"])
def test_stochastic_executions_that_do_not_end_are_stopped_within_the_budget(refinements):
    untaught = {"learning_rate": 1e-9, "updates_per_iteration": 1, "evaluations": 0}
    sizes = {**untaught, "total_steps": 120, "refinements": refinements}
    config = ALGORITHMS["pcn"].config_class.of(tiny("pcn"), sizes)
    found = set()
    for seed in range(8):  # in some trainings no execution ends
        before = len(Slip.rewards)
        trainer = ALGORITHMS["pcn"].trainer(environment(Slip, step_limit=40), config, seed=seed)
        while not trainer.done:
            trainer.iterate()
        result, told = trainer.outcome().coverage_set, trainer.take_notices()
        assert trainer.steps == len(Slip.rewards) - before <= 120
        if result.num_stopped:
            assert told[0].startswith(f"{result.num_stopped} of ")
            assert result.is_executed or result.num_stopped == len(result)
            found.add(result.is_executed)
    assert found == {True, False}


@pytest.mark.parametrize("refinements", [{}, {"loop_erasure": {}}], ids=["paper", "loop erasure"])
def test_episodes_that_are_replayed_without_their_loops_cost_steps(refinements):
    sizes = {"warmup_episodes": 40, "total_steps": 10_000, "evaluations": 0}
    config = ALGORITHMS["pcn"].config_class.of(tiny("pcn"), sizes, {"refinements": refinements})
    replayed = 0
    for seed in range(4):  # in some trainings no episode is better without its loops
        trainer = ALGORITHMS["pcn"].trainer(environment(Walk), config, seed=seed)
        num_episodes, num_steps = len(Walk.seeds), len(Walk.rewards)
        trainer.iterate()
        assert trainer.steps == len(Walk.rewards) - num_steps
        # The warm-up's episodes, those of one exploration, and the replays.
        replayed += len(Walk.seeds) - num_episodes - (40 + config.episodes_per_iteration)
    assert replayed > 0 if refinements else replayed == 0


@algorithms
def test_every_execution_draws_random_numbers_of_its_own(name):
    trainer, where, config = trained(name, Gamble)
    outcome = trainer.outcome()

    def seeds(seed):
        """What episodes begin with when every policy is executed again."""
        before = len(Gamble.seeds)
        again = where, config, outcome.arrays, outcome.coverage_set
        # More episodes than the largest batch of any algorithm.
        ALGORITHMS[name].execute(*again, executions=80, seed=seed)
        return Gamble.seeds[before:]

    first = seeds(1)
    assert len(first) == 80 * len(outcome.coverage_set)
    assert len(set(first)) == len(first)
    assert seeds(1) == first
    assert not set(seeds(2)) & set(first)
