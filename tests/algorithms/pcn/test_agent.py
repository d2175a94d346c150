from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.pcn.agent import ConditionedAgent
from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.network import fresh_policy
from pcn.command import Command
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.nets.heads import CategoricalHead

OBSERVATION = jnp.array([3, 4], jnp.int32)
NUM_DRAWS = 20_000

ACTIONS = eqx.filter_jit(lambda agent, keys: jax.vmap(lambda k: agent.act(OBSERVATION, k))(keys))
LOGITS = eqx.filter_jit(lambda agent: agent.policy(OBSERVATION, agent.command))


@cache
def network():
    return fresh_policy(DeepSeaTreasure().spec, PCNConfig(), np.zeros(2, np.uint32))


def make_agent(**changes):
    policy = network()
    # Logits far enough apart for their softmax to be told from a uniform choice.
    last = lambda p: p.head.layers[-1].bias  # noqa: E731
    policy = eqx.tree_at(last, policy, jnp.array([0.0, 1.0, 2.0, -1.0]))
    number = lambda value: jnp.asarray(value, jnp.float32)  # noqa: E731
    values = {
        "policy": policy,
        "command": Command(jnp.array([5.0, -7.0]), number(7.0)),
        "noise": number(0.0),
        "repeat": number(0.0),
        "last_action": jnp.array([3], jnp.int32),
        "greedy": jnp.asarray(False),
        "discount": number(1.0),
        "upper_bound": jnp.array([124.0, -1.0]),
        "follows_rewards": jnp.asarray(True),
    }
    for name, value in changes.items():
        values[name] = jnp.asarray(value, values[name].dtype)
    return ConditionedAgent(**values)


def shares(agent):
    """How often each action is taken."""
    keys = jax.random.split(jax.random.key(0), NUM_DRAWS)
    actions = ACTIONS(agent, keys)
    return np.bincount(np.asarray(actions)[:, 0], minlength=4) / NUM_DRAWS


def test_exploring_samples_from_the_softmax_of_the_network():
    agent = make_agent()
    expected = jax.nn.softmax(LOGITS(agent))
    np.testing.assert_allclose(shares(agent), expected, atol=0.02)
    assert np.ptp(expected) > 0.3


def test_executing_takes_the_first_choice_every_time():
    agent = make_agent(greedy=True)
    best = int(jnp.argmax(LOGITS(agent)))
    assert shares(agent)[best] == 1


def test_with_noise_one_every_action_is_equally_likely():
    np.testing.assert_allclose(shares(make_agent(noise=1.0)), 1 / 4, atol=0.02)


def test_noise_mixes_the_two():
    agent = make_agent(noise=0.4)
    wanted = np.asarray(jax.nn.softmax(LOGITS(agent)))
    np.testing.assert_allclose(shares(agent), 0.6 * wanted + 0.4 / 4, atol=0.02)


@pytest.mark.parametrize(("noise", "repeat"), [(1.0, 1.0), (1.0, 0.6), (0.5, 0.5)])
def test_random_actions_stick_to_the_last_one(noise, repeat):
    agent = make_agent(noise=noise, repeat=repeat)
    random = np.full(4, (1 - repeat) / 4)
    random[3] += repeat
    wanted = np.asarray(jax.nn.softmax(LOGITS(agent)))
    np.testing.assert_allclose(shares(agent), noise * random + (1 - noise) * wanted, atol=0.02)


def test_the_first_action_repeats_nothing():
    agent = make_agent(noise=1.0, repeat=1.0, last_action=CategoricalHead((4,)).none())
    np.testing.assert_allclose(shares(agent), 1 / 4, atol=0.02)


def test_what_was_received_is_no_longer_asked_for():
    agent = make_agent(discount=0.5)
    after = agent.observing(jnp.array([2], jnp.int32), jnp.array([1.0, -1.0]))
    assert after.command.desired_return.tolist() == [8.0, -12.0]  # (5 - 1) / .5, (-7 + 1) / .5
    assert after.command.desired_horizon == 6
    assert after.last_action.tolist() == [2]
    bounded = make_agent(upper_bound=[4.0, -8.0]).observing(
        jnp.array([2], jnp.int32), jnp.array([0.0, -1.0])
    )
    assert bounded.command.desired_return.tolist() == [4.0, -8.0]


def test_a_fixed_command_keeps_its_desired_return_while_its_horizon_counts_down():
    agent = make_agent(discount=0.5, follows_rewards=False, upper_bound=[4.0, -8.0])
    for reward in ([1.0, -1.0], [3.0, -2.0]):
        agent = agent.observing(jnp.array([2], jnp.int32), jnp.array(reward))
    assert agent.command.desired_return.tolist() == [5.0, -7.0]
    assert agent.command.desired_horizon == 5  # 7 - 2
    assert agent.last_action.tolist() == [2]


def test_only_greedy_agents_without_noise_need_no_random_numbers():
    assert not make_agent(greedy=True).needs_random_numbers()
    assert make_agent(greedy=True, noise=0.1).needs_random_numbers()
    assert make_agent().needs_random_numbers()


def test_random_numbers_change_nothing_where_none_are_needed():
    agent = make_agent(greedy=True, repeat=0.5)
    draws = agent.draw(jax.random.key(0), (1000,))
    actions = eqx.filter_jit(jax.vmap(lambda drawn: agent.act_drawn(OBSERVATION, drawn)))(draws)
    assert len(np.unique(np.asarray(actions))) == 1
