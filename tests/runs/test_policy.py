"""What a policy thinks of its options, and what it refuses because it would corrupt its memory."""

import dataclasses

import numpy as np
import pytest

from explored import shown
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


@pytest.mark.parametrize(
    "reward",
    [[1.0], [1.0, 2.0, 3.0], [np.nan, 0.0], "much", 1.0, [1j, 0.0], np.array([1.0, 1j])],
    ids=str,
)
def test_a_reward_of_another_shape_or_kind_is_refused(reward):
    policy = make_policy(masked=False)
    assert policy.act(HERE) == 1
    with pytest.raises(UserError, match="a reward must be 2 finite numbers"):
        policy.observe(reward)
    policy.observe([0.0, -1.0])  # nothing was lost
    assert policy.act(HERE) == 3


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (np.array([np.nan, 0]), "the observation is nan at entry 0; only finite numbers"),
        (np.array([np.inf, 0]), "the observation is inf at entry 0"),
        (np.array([0, 0, 0]), r"the observation has shape \(3,\), its space says \(2,\)"),
        (np.array([1j, 0]), "which is not an array of real numbers"),
        ("here", "the observation is 'here', which is not an array of real numbers"),
    ],
)
def test_an_observation_that_a_network_cannot_read_is_refused(seen, told):
    policy = make_policy(masked=False)
    with pytest.raises(UserError, match=told):
        policy.act(seen)
    assert policy.act(HERE) == 1  # nothing was lost


def test_an_environment_that_masks_actions_needs_its_mask():
    policy = make_policy(masked=True)
    with pytest.raises(UserError, match="deep-sea-treasure masks actions"):
        policy.act(HERE)
    with pytest.raises(UserError, match="must have 4 entries, got 3"):
        policy.act(HERE, np.ones(3, bool))
    with pytest.raises(UserError, match="allows no action"):
        policy.act(HERE, np.zeros(4, bool))
    assert policy.act(HERE, np.array([True, False, False, False])) == 0


@pytest.mark.slow
def test_a_policy_tells_what_its_network_thinks_of_each_option():
    """A forbidden option has probability zero; the others keep their proportions."""
    policy = shown("pcn").acting.policy(0)
    assert policy.act(HERE) == 1
    (free,) = policy.option_probabilities()
    assert free.sum() == pytest.approx(1, abs=1e-6)
    assert free.argmax() == 1
    policy.reset()
    action = policy.act(HERE, np.array([True, False, True, True]))
    (masked,) = policy.option_probabilities()
    assert masked[1] == 0
    assert masked.argmax() == action
    allowed = [0, 2, 3]
    np.testing.assert_allclose(masked[allowed], free[allowed] / free[allowed].sum(), rtol=1e-4)


def test_there_is_nothing_to_think_of_before_acting_or_without_a_network():
    policy = make_policy(masked=False)
    with pytest.raises(RuntimeError, match="call act"):
        policy.option_probabilities()
    policy.act(HERE)
    assert policy.option_probabilities() is None
    policy.observe([0.0, -1.0])
    with pytest.raises(RuntimeError, match="call act"):
        policy.option_probabilities()
