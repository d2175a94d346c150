"""The largest desired return: as told or found, kept from the first command on, and saved."""

import numpy as np
import pytest

from logged import Walk, environment
from pcn.algorithms import ALGORITHMS
from pcn.rollout.runner import Runner
from sizes import tiny

pytestmark = pytest.mark.slow

TOLD = (2.0, -1.5)  # less than the front of the walk asks for

BOUNDS = {
    "found": ({}, (3.0, -1.0)),  # a walk's last step pays 3 and costs 1
    "told": ({"bounded_commands.upper_bound": TOLD}, TOLD),
    "none": ({"bounded_commands": False}, (np.inf, np.inf)),
}


@pytest.fixture
def agents_seen(monkeypatch):
    """Every batch of agents under commands that acts."""
    seen, run = [], Runner.run

    def watching(runner, agents, *arguments, **options):
        if hasattr(agents, "command"):
            seen.append(agents)
        return run(runner, agents, *arguments, **options)

    monkeypatch.setattr(Runner, "run", watching)
    return seen


@pytest.mark.parametrize("kind", BOUNDS)
def test_the_saved_bound_is_the_one_that_policies_were_executed_with(kind, agents_seen):
    options, bound = BOUNDS[kind]
    pcn, where = ALGORITHMS["pcn"], environment(Walk)
    few = {"total_steps": 400, "consolidation.updates": 8}  # enough to execute those that are stuck
    config = pcn.config_class.of(tiny("pcn"), few, options)
    trainer = pcn.trainer(where, config, seed=0)
    executing = []
    while not trainer.done:
        before = len(agents_seen)
        if trainer.iterate().phase == "executing":
            executing += agents_seen[before:]
    outcome = trainer.outcome()
    np.testing.assert_array_equal(outcome.coverage_set.requested, Walk.front)
    np.testing.assert_array_equal(outcome.arrays["upper_bound"], bound)
    first_commands = np.minimum(Walk.front, bound)
    for agents in executing:
        np.testing.assert_array_equal(agents.upper_bound, np.float32(bound))
    executed = np.concatenate([agents.command.desired_return for agents in executing])
    np.testing.assert_array_equal(np.unique(executed, axis=0), np.unique(first_commands, axis=0))
    for index, command in enumerate(first_commands):
        agent = pcn.agent(where.spec, config, outcome.arrays, outcome.coverage_set, index)
        np.testing.assert_array_equal(agent.command.desired_return, command)
    for agents in agents_seen:
        assert np.all(agents.command.desired_return <= agents.upper_bound)


def test_with_a_discount_there_is_a_smallest_desired_return(agents_seen):
    pcn, where = ALGORITHMS["pcn"], environment(Walk)
    for discount in (1.0, 0.5):
        agents_seen.clear()
        config = pcn.config_class.of(tiny("pcn"), {"discount": discount})
        trainer = pcn.trainer(where, config, seed=0)
        while not trainer.done:
            trainer.iterate()
        outcome, last = trainer.outcome(), agents_seen[-1]
        if discount == 1.0:
            assert "lower_bound" not in outcome.arrays
            assert last.lower_bound is None
        else:
            # No step pays less than nothing; at most ten steps cost one each: -2 + 2 / 2**10.
            lowest = outcome.arrays["lower_bound"]
            assert lowest[0] == 0
            assert -2 + 2 / 2**10 <= lowest[1] < -1
            np.testing.assert_allclose(last.lower_bound, lowest)
            agent = pcn.agent(where.spec, config, outcome.arrays, outcome.coverage_set, 0)
            np.testing.assert_allclose(agent.lower_bound, lowest)


def test_the_first_command_of_exploring_episodes_may_be_unbounded(agents_seen):
    pcn, where = ALGORITHMS["pcn"], environment(Walk)
    options = {"bounded_first_command": False, "bounded_commands.upper_bound": TOLD}
    trainer = pcn.trainer(where, pcn.config_class.of(tiny("pcn"), options), seed=0)
    while not trainer.done:
        trainer.iterate()
    exceeding = [np.any(one.command.desired_return > one.upper_bound) for one in agents_seen]
    exploring = [not bool(one.greedy) for one in agents_seen]
    assert any(exceeding)
    assert all(one <= other for one, other in zip(exceeding, exploring, strict=True))
