"""What algorithms say they did, against what an environment has seen of it."""

import pytest

import pcn
from logged import SETTLED, TINY, Gamble, Walk
from pcn.algorithms import ALGORITHMS
from pcn.cli import main

algorithms = pytest.mark.parametrize("algorithm", ALGORITHMS)


def train(environment, algorithm, **options):
    arguments = {**SETTLED, "deterministic": environment is Walk}
    return pcn.train(
        environment, algorithm=algorithm, arguments=arguments, **{**TINY[algorithm], **options}
    )


@algorithms
def test_every_step_that_was_taken_is_counted(algorithm):
    """Those of replays, evaluations, checks and final executions are steps, too."""
    before = len(Walk.rewards)
    metrics = train(Walk, algorithm).metrics
    consolidation = metrics.get("consolidation", {"steps": 0})["steps"]
    assert len(Walk.rewards) - before == metrics["steps"] + consolidation


def test_replays_without_loops_are_taken_and_counted():
    """Warm-up alone: six episodes, and the replays of those that have loops."""
    counts = []
    for erase_loops in (False, True):
        before = len(Walk.seeds), len(Walk.rewards)
        options = {"erase_loops": erase_loops, "variations": False, "consolidation_updates": 0}
        run = train(Walk, "pcn", total_steps=1, evaluations=0, warmup_front=0, **options)
        steps = run.metrics["steps"] + run.metrics["consolidation"]["steps"]
        assert len(Walk.rewards) - before[1] == steps
        counts.append(len(Walk.seeds) - before[0])
    assert counts[1] > counts[0]


@algorithms
def test_every_execution_draws_random_numbers_of_its_own(algorithm, tmp_path, capsys):
    train(Gamble, algorithm, out=tmp_path / "run")
    capsys.readouterr()
    before = len(Gamble.seeds)
    # More episodes than the largest batch of any algorithm.
    main(["evaluate", str(tmp_path / "run"), "--executions", "80"])
    seeds = Gamble.seeds[before:]
    assert len(seeds) >= 80
    assert len(set(seeds)) == len(seeds)
    capsys.readouterr()
    main(["evaluate", str(tmp_path / "run"), "--executions", "80", "--seed", "2"])
    assert not set(Gamble.seeds[-80:]) & set(seeds)
