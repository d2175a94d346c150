"""The largest desired return: as told or found, kept from the first command on, and saved."""

import numpy as np
import pytest

import pcn
from logged import SETTLED, TINY, Walk
from pcn.algorithms.pcn import evaluate

HIGHEST = [3.0, -1.0]  # a walk's last step pays 3 and costs 1
TOLD = (2.0, -2.5)  # less than the front of the walk asks for

BOUNDS = {
    "found": ({}, HIGHEST),
    "told": ({"upper_bound": TOLD}, TOLD),
    "none": ({"bound_commands": False}, [np.inf, np.inf]),
}


@pytest.fixture
def agents_seen(monkeypatch):
    """Every batch of agents that acts."""
    seen, rollout = [], evaluate.rollout

    def watching(environment, agents, *arguments, **options):
        seen.append(agents)
        return rollout(environment, agents, *arguments, **options)

    monkeypatch.setattr(evaluate, "rollout", watching)
    return seen


@pytest.mark.parametrize("kind", BOUNDS)
def test_the_saved_bound_is_the_one_that_policies_were_executed_with(kind, agents_seen):
    options, bound = BOUNDS[kind]
    arguments = {**SETTLED, "deterministic": True}
    run = pcn.train(Walk, arguments=arguments, **TINY["pcn"], **options)
    np.testing.assert_array_equal(run.coverage_set.requested, Walk.front)
    np.testing.assert_array_equal(run.weights["upper_bound"], bound)
    np.testing.assert_array_equal(agents_seen[-1].upper_bound, np.float32(bound))
    first_commands = np.minimum(Walk.front, bound)
    np.testing.assert_array_equal(agents_seen[-1].command.desired_return[:2], first_commands)
    for index, command in enumerate(first_commands):
        np.testing.assert_array_equal(run.policy(index).command.desired_return, command)
    for agents in agents_seen:
        assert np.all(agents.command.desired_return <= agents.upper_bound)
