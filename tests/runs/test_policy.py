"""What a policy refuses: rewards and masks that would corrupt what it remembers."""

import dataclasses

import numpy as np
import pytest

from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.errors import UserError
from pcn.nets.heads import action_head_for
from pcn.rollout import ScriptedAgent
from pcn.runs.policy import Policy

SPEC = DeepSeaTreasure().spec
HERE = np.array([0, 0])


def make_policy(*, masked):
    head = action_head_for(SPEC.action_space)
    agent = ScriptedAgent(np.array([[1], [3]], np.int32), np.asarray(0, np.int32), head)
    return Policy(agent, dataclasses.replace(SPEC, masked_actions=masked))


@pytest.mark.parametrize("reward", [[1.0], [1.0, 2.0, 3.0], [np.nan, 0.0], "much", 1.0])
def test_a_reward_of_another_shape_or_kind_is_refused(reward):
    policy = make_policy(masked=False)
    assert policy.act(HERE) == 1
    with pytest.raises(UserError, match="a reward must be 2 finite numbers"):
        policy.observe(reward)
    policy.observe([0.0, -1.0])  # nothing was lost
    assert policy.act(HERE) == 3


def test_an_environment_that_masks_actions_needs_its_mask():
    policy = make_policy(masked=True)
    with pytest.raises(UserError, match="deep-sea-treasure masks actions"):
        policy.act(HERE)
    with pytest.raises(UserError, match="must have 4 entries, got 3"):
        policy.act(HERE, np.ones(3, bool))
    with pytest.raises(UserError, match="allows no action"):
        policy.act(HERE, np.zeros(4, bool))
    assert policy.act(HERE, np.array([True, False, False, False])) == 0
