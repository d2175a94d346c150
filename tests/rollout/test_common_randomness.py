"""Episodes of equal number meet the same randomness."""

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.spec import EnvironmentSpec, Objective
from pcn.rollout import rollout
from pcn.rollout.stepped import episode_seeds
from tests.rollout.test_rollout import CountingAgent

KEY = np.array([1, 2], np.uint32)


class Dice(gym.Env):
    """Five throws of a die; no action changes them."""

    observation_space = gym.spaces.Discrete(6)
    action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 5
        return 0, {}

    def step(self, action):
        self.left -= 1
        thrown = self.np_random.integers(6)
        return int(thrown), np.array([thrown, -1.0]), self.left == 0, False, {}


def dice():
    return GymnasiumEnvironment(
        Dice,
        EnvironmentSpec(
            name="dice",
            objectives=(Objective("points"), Objective("time")),
            observation_space=Dice.observation_space,
            action_space=Dice.action_space,
            step_limit=5,
            reference_point=(-1.0, -9.0),
            deterministic=False,
        ),
        num_slots=3,
    )


def returns_of(environment, numbers):
    count = len(numbers)
    agents = CountingAgent(jnp.zeros(count, jnp.float32), jnp.int32(1), jnp.zeros(count, jnp.int32))
    return rollout(environment, agents, KEY, count, numbers=np.asarray(numbers)).returns()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["compiled", "stepped"])
def test_the_number_alone_decides_what_an_episode_meets(kind, coin, request):
    environment = coin if kind == "compiled" else dice()
    numbers = [4, 0, 4, 1, 2, 3]
    returns = returns_of(environment, numbers)
    np.testing.assert_array_equal(returns[0], returns[2])
    assert len(np.unique(returns[1:], axis=0)) > 1
    # In another batch and at another place it is the same.
    other = returns_of(environment, [3, 1, 9, 4, 0, 0])
    np.testing.assert_array_equal(other[[0, 1, 3, 4, 5]], returns[[5, 3, 0, 1, 1]])


def test_seeds_of_numbers_are_distinct_and_their_own():
    seeds = episode_seeds(KEY, 500, np.arange(500))
    assert len(np.unique(seeds)) == 500
    np.testing.assert_array_equal(episode_seeds(KEY, 2, np.array([499, 7])), seeds[[499, 7]])
    assert not np.isin(episode_seeds(KEY, 500), seeds).any()
