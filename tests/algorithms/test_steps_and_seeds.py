"""What algorithms say they did, against what an environment has seen of it."""

import pytest

from logged import TINY, Gamble, Walk, environment
from pcn.algorithms import ALGORITHMS

algorithms = pytest.mark.parametrize("name", ALGORITHMS)


def trained(name, kind, **options):
    """A finished trainer, its environment and its config."""
    config = ALGORITHMS[name].config_class.of(TINY[name], options)
    where = environment(kind)
    trainer = ALGORITHMS[name].trainer(where, config, seed=0)
    while not trainer.done:
        trainer.iterate()
    return trainer, where, config


@algorithms
@pytest.mark.parametrize("kind", [Walk, Gamble], ids=["deterministic", "stochastic"])
def test_every_step_that_was_taken_is_counted(name, kind):
    """Those of replays, evaluations, checks and final executions are steps, too."""
    before = len(kind.rewards)
    trainer, *_ = trained(name, kind)
    trainer.outcome()
    assert trainer.steps == len(kind.rewards) - before


def test_episodes_that_are_replayed_without_their_loops_cost_steps():
    """Warm-up alone: six episodes, and the replays of those that have loops."""
    alone = {"total_steps": 1, "evaluations": 0, "warmup_episodes": 16}
    counts = []
    for refinements in ({}, {"loop_erasure": {}}):
        before = len(Walk.seeds), len(Walk.rewards)
        trainer, *_ = trained("pcn", Walk, **alone, refinements=refinements)
        assert trainer.steps == len(Walk.rewards) - before[1]
        counts.append(len(Walk.seeds) - before[0])
    assert counts[1] > counts[0]


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
