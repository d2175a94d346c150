"""Slots tell of steps as they are taken, so that people who wait see something move."""

import time

import gymnasium as gym
import numpy as np
import pytest

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.slots import Script
from pcn.envs.spec import EnvironmentSpec, Objective


class Slow(gym.Env):
    """Four steps, each of 0.4 seconds."""

    observation_space = gym.spaces.Discrete(5)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.time = 0
        return 0, {}

    def step(self, action):
        time.sleep(0.4)
        self.time += 1
        return self.time, np.array([float(action), -1.0]), self.time == 4, False, {}


def slow(*, workers):
    spec = EnvironmentSpec(
        name="slow",
        objectives=(Objective("a"), Objective("b")),
        observation_space=Slow.observation_space,
        action_space=Slow.action_space,
        step_limit=4,
        reference_point=(-1.0, -5.0),
    )
    return GymnasiumEnvironment(spec, Slow, num_slots=2, workers=workers)


@pytest.mark.parametrize(
    "workers", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["serial", "workers"]
)
def test_steps_are_told_while_an_episode_is_played(workers):
    environment = slow(workers=workers)
    told = []
    environment.watch(told.append)
    try:
        slots = environment.slots()
        slots.reset({0: 0, 1: 1})
        slots.step({0: 1, 1: 0})
        assert [steps for steps in told if steps] == [2]  # once for all slots
        told.clear()
        script = Script(0, np.ones((4, 1), np.int64), obeys_masks=False)
        played = slots.play({0: script, 1: script})
        assert [len(one.rewards) for one in played.values()] == [4, 4]
        assert sum(told) == 8  # none is told twice
        assert len([steps for steps in told if steps]) > 2  # before an episode is over
        environment.watch(None)
        slots.reset({0: 0})
        slots.step({0: 1})
        assert sum(told) == 8
    finally:
        environment.close()
