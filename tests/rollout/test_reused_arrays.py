"""Environments that return one array again and again, changed in place, are recorded rightly."""

from functools import partial

import gymnasium as gym
import jax
import numpy as np

from pcn.envs import find_environment
from pcn.rollout import ScriptedAgent, rollout


class Counter(gym.Env):
    """Observes how many steps were taken, in one array for the whole life of the environment."""

    observation_space = gym.spaces.Box(0, 100, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, random_start=False):
        self.seen, self.random_start = np.zeros(1, np.float32), random_start

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.taken = 0
        self.seen[:] = self.np_random.integers(1, 50) if self.random_start else 0
        return self.seen, {}

    def step(self, action):
        self.seen += 1
        self.taken += 1
        return self.seen, np.array([1.0, -1.0]), self.taken == 5, False, {}


def test_scripted_episodes_keep_what_was_seen_at_each_step():
    environment = find_environment("here:Counter", {}, thing=Counter).environment
    agents = ScriptedAgent(np.zeros((2, 4, 1), np.int32), np.zeros(2, np.int32))
    episodes = rollout(environment, agents, jax.random.key(0), 2, most_steps=4)
    seen = np.asarray(episodes.observations)[:2, :4, 0]
    np.testing.assert_array_equal(seen, [[0, 1, 2, 3], [0, 1, 2, 3]])


def test_a_random_start_is_not_taken_for_a_deterministic_one():
    thing = partial(Counter, random_start=True)
    assert not find_environment("here:Counter", {}, thing=thing).environment.spec.deterministic
