"""Tiny Gymnasium environments that write down what is done with them."""

import os
import time

import gymnasium as gym
import numpy as np

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe

SETTLED = {"reference_point": (-10.0, -11.0), "masked_actions": False, "step_limit": 10}
"""Arguments with which no random episodes are needed before training."""


class Logged(gym.Env):
    """Keeps what happened to all environments of its class in this process."""

    observation_space = gym.spaces.MultiDiscrete([6], dtype=np.int32)
    action_space = gym.spaces.Discrete(3)
    deterministic = True
    seeds: list[int]
    """What episodes were begun with, in their order."""
    rewards: list[np.ndarray]
    """What steps brought, in their order."""

    def __init_subclass__(cls):
        cls.seeds, cls.rewards = [], []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seeds.append(seed)
        return self.begin(), {}

    def step(self, action):
        seen, reward, terminated = self.follow(int(action))
        self.rewards.append(reward)
        return seen, reward, terminated, False, {}


class Walk(Logged):
    """A walk on the places 0 to 5 from place 2: left, right, or give up.

    Place 0 pays 1, two steps away, and place 5 pays 3, three steps away; every step costs 1.
    Walks that turn round have loops.
    """

    front = ((0.0, -1.0), (1.0, -2.0), (3.0, -3.0))
    """By hand: giving up at once, and the shortest way to each end."""

    def begin(self):
        self.place = 2
        return np.array([2], np.int32)

    def follow(self, action):
        self.place += (-1, 1, 0)[action]
        pay = {0: 1.0, 5: 3.0}.get(self.place, 0.0)
        ended = action == 2 or self.place in (0, 5)
        return np.array([self.place], np.int32), np.array([pay, -1.0]), ended


class Wait(Walk):
    """The same walk, but one may also stay where one is, and policies may do so for ever."""

    def follow(self, action):
        seen, reward, ended = super().follow(action)
        return seen, reward, ended and action != 2


class Slip(Wait):
    """The same, but one step in four is not taken."""

    deterministic = False

    def follow(self, action):
        return super().follow(2 if self.np_random.random() < 0.25 else action)


class Gamble(Logged):
    """One step: (1, 3), (3, 1) or (0, 0), moved at random along and across the front."""

    deterministic = False

    def begin(self):
        return np.zeros(1, np.int32)

    def follow(self, action):
        first, second = ((1.0, 3.0), (3.0, 1.0), (0.0, 0.0))[action]
        along, across = self.np_random.integers(-3, 4), self.np_random.integers(3)
        reward = np.array([first + across + along, second + across - along])
        return np.zeros(1, np.int32), reward, True


def environment(kind, *, step_limit=SETTLED["step_limit"], **options):
    """One of the environments above, as algorithms train on it."""
    settled = {**SETTLED, "step_limit": step_limit}
    probe = Probe(**settled, deterministic=getattr(kind, "deterministic", True))
    return GymnasiumEnvironment.from_source(GymnasiumSource(kind.__name__, kind), probe, **options)


class Stuck(Logged):
    """Action 0 ends the process, any other takes a minute."""

    begin = Gamble.begin

    def follow(self, action):
        if action == 0:
            os._exit(1)
        time.sleep(60)
        return np.zeros(1, np.int32), np.zeros(2), True
