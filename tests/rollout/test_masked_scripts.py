"""Scripts whose actions a mask forbids: what they give way to is drawn anew in every episode."""

import gymnasium as gym
import numpy as np
import pytest

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe
from pcn.nets.heads import action_head_for
from pcn.rollout import ScriptedAgent, rollout

NUM_EPISODES = 12


class Closed(gym.Env):
    """Two steps with eight actions, the first of which is never allowed."""

    observation_space = gym.spaces.Discrete(1)
    action_space = gym.spaces.Discrete(8)

    def reset(self, *, seed=None, options=None):
        self.time = 0
        return 0, {"action_mask": np.arange(8) > 0}

    def step(self, action):
        assert action > 0
        self.time += 1
        return 0, np.zeros(2), self.time == 2, False, {"action_mask": np.arange(8) > 0}


@pytest.fixture(scope="module")
def replaced():
    """What a script of forbidden actions gives way to, for a key."""
    source, probe = GymnasiumSource("closed", Closed), Probe((0.0, 0.0), True, True, 2)
    environment = GymnasiumEnvironment.from_source(source, probe, num_slots=4)
    head = action_head_for(Closed.action_space)
    scripts = np.zeros((NUM_EPISODES, 2, 1), np.int32)
    agents = ScriptedAgent(scripts, np.zeros(NUM_EPISODES, np.int32), head)

    def actions(*key):
        episodes = rollout(environment, agents, np.array(key, np.uint32), NUM_EPISODES)
        return np.asarray(episodes.actions)[..., 0]

    return actions


def test_every_episode_draws_its_own_actions_in_place_of_forbidden_ones(replaced):
    actions = replaced(1, 2)
    for step in range(2):
        assert len(set(actions[:, step].tolist())) > 2
    assert np.any(actions[:, 0] != actions[:, 1])


def test_what_is_drawn_in_place_of_forbidden_actions_depends_on_the_key_alone(replaced):
    np.testing.assert_array_equal(replaced(1, 2), replaced(1, 2))
    assert np.any(replaced(1, 2) != replaced(3, 4))
