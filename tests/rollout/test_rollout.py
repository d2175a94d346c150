import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float, Int

from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.rollout import AbstractAgent, rollout


class CountingAgent(AbstractAgent):
    """Deterministic, but its actions depend on all it was given and all it has seen."""

    asked: Float[Array, "*episode"]
    """The next action is a function of what is left of this."""
    stride: Int[Array, ""]
    last: Int[Array, "*episode"]

    shared = ("stride",)

    def act(self, observation, key):
        del key
        left = jnp.round(self.asked).astype(jnp.int32)
        mixed = left * 7 + jnp.sum(observation) * 3 + self.last * self.stride
        return (mixed // 3 % 4)[None].astype(jnp.int32)

    def having_acted(self, observation, action):
        seen = jnp.sum(observation).astype(jnp.float32) + action[0]
        return eqx.tree_at(lambda a: a.asked, self, self.asked + seen)

    def observing(self, action, reward):
        left = self.asked - 3 * jnp.sum(reward)
        return eqx.tree_at(lambda a: (a.asked, a.last), self, (left, action[0]))


def counting_agents(asked, stride=5):
    asked = jnp.asarray(asked, jnp.float32)
    return CountingAgent(asked, jnp.int32(stride), jnp.zeros(asked.shape, jnp.int32))


def slow_episode(environment, agent):
    """One episode, one Python step at a time; no key matters."""
    step = eqx.filter_jit(environment.step)
    key = jax.random.key(0)
    state, terminated = environment.reset(key), False
    observations, actions, rewards = [], [], []
    while not terminated and len(actions) < environment.spec.step_limit:
        observation = environment.observation(state)
        action = agent.act(observation, key)
        state, reward, done, _ = step(state, action[0], key)
        agent = agent.having_acted(observation, action).observing(action, reward)
        observations.append(np.asarray(observation))
        actions.append(np.asarray(action))
        rewards.append(np.asarray(reward))
        terminated = bool(done)
    last = np.asarray(environment.observation(state))
    return np.array(observations), np.array(actions), np.array(rewards), terminated, last


@pytest.fixture(scope="module")
def environment():
    return DeepSeaTreasure()


@pytest.fixture(scope="module")
def asked():
    return np.arange(16.0)


@pytest.fixture(scope="module")
def episodes(environment, asked):
    return rollout(environment, counting_agents(asked), jax.random.key(0), len(asked))


@pytest.mark.slow
def test_every_episode_equals_a_slow_loop(environment, asked, episodes):
    kinds = set()
    for number, start in enumerate(asked):
        agent = counting_agents(start)
        observations, actions, rewards, terminated, last = slow_episode(environment, agent)
        length = len(actions)
        assert episodes.lengths[number] == length
        assert episodes.terminated[number] == terminated
        np.testing.assert_array_equal(episodes.observations[number, :length], observations)
        np.testing.assert_array_equal(episodes.actions[number, :length], actions)
        np.testing.assert_array_equal(episodes.rewards[number, :length], rewards)
        np.testing.assert_array_equal(episodes.last_observations[number], last)
        kinds.add(terminated)
    assert kinds == {True, False}  # the comparison saw both ways to end


def test_what_lies_beyond_an_episode_is_zero(episodes):
    assert len(set(episodes.lengths.tolist())) > 2
    beyond = np.arange(episodes.actions.shape[1]) >= np.asarray(episodes.lengths)[:, None]
    for part in (episodes.observations, episodes.actions, episodes.rewards):
        assert not np.asarray(part)[beyond].any()


def test_the_step_limit_truncates_and_is_no_termination(environment, episodes):
    lengths, terminated = np.asarray(episodes.lengths), np.asarray(episodes.terminated)
    assert episodes.actions.shape[1] == environment.spec.step_limit
    assert np.all(lengths[~terminated] == environment.spec.step_limit)
    assert np.all(lengths[terminated] < environment.spec.step_limit)


def test_only_the_episodes_that_were_needed_are_real(environment, asked, episodes):
    some = rollout(environment, counting_agents(asked), jax.random.key(0), len(asked), count=5)
    assert some.real_mask.tolist() == [True] * 5 + [False] * (len(asked) - 5)
    assert some.num_steps == int(np.asarray(episodes.lengths)[:5].sum())
    assert episodes.real_mask.all()


def test_each_episode_acts_by_its_own_agent(environment, asked, episodes):
    different = {np.asarray(row).tobytes() for row in episodes.actions}
    assert len(different) > 4
    backwards = rollout(
        environment, counting_agents(asked[::-1].copy()), jax.random.key(0), len(asked)
    )
    np.testing.assert_array_equal(backwards.actions[::-1], episodes.actions)
    np.testing.assert_array_equal(backwards.lengths[::-1], episodes.lengths)


def test_shared_fields_are_the_same_for_all(environment, asked, episodes):
    other = rollout(environment, counting_agents(asked, stride=2), jax.random.key(0), len(asked))
    assert not np.array_equal(other.actions, episodes.actions)


def test_episodes_of_a_stochastic_environment_have_their_own_luck(coin):
    agents = counting_agents(np.zeros(200))
    episodes = rollout(coin, agents, jax.random.key(0), 200)
    heads = episodes.returns()[:, 0] / 2
    assert episodes.lengths.tolist() == [5] * 200
    np.testing.assert_array_equal(episodes.returns().sum(axis=1), 10)
    # Five tosses: mean 2.5, variance 1.25; the mean of 200 has a deviation of .08.
    assert abs(heads.mean() - 2.5) < 0.4
    assert abs(heads.var() - 1.25) < 0.5
    again = rollout(coin, agents, jax.random.key(0), 200)
    np.testing.assert_array_equal(again.rewards, episodes.rewards)
    other = rollout(coin, agents, jax.random.key(1), 200)
    assert not np.array_equal(other.rewards, episodes.rewards)
    # Tosses within an episode differ as well.
    assert len({tuple(row) for row in np.asarray(episodes.rewards[:, :5, 0]).tolist()}) == 32
