"""Gymnasium environments whose episodes all have one length, with every return that they have."""

import itertools
from functools import partial

import gymnasium as gym
import numpy as np

from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.envs.spec import EnvironmentSpec, Objective

WEIGHTS = (3, 5, 2, 7, 4, 6, 1, 5, 3, 2)
VALUES = ((4, 1), (1, 6), (3, 3), (8, 2), (2, 5), (5, 5), (1, 0), (0, 4), (3, 2), (1, 3))
CAPACITY = 15
THINGS = (((0, 0), 0), ((1, 0), 1), ((3, 1), 3), ((1, 4), 2))
ROOM, PUT = 9, 6


class Knapsack(gym.Env):
    """Ten items, one after the other, are taken or left; what does not fit is left.

    It never terminates: the step limit ends an episode.
    """

    observation_space = gym.spaces.MultiDiscrete([len(WEIGHTS) + 1, CAPACITY + 1])
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.item = self.load = 0
        return np.array([0, 0]), {}

    def step(self, action):
        fits = action == 1 and self.load + WEIGHTS[self.item] <= CAPACITY
        reward = np.array(VALUES[self.item], float) * fits
        self.load += WEIGHTS[self.item] * fits
        self.item += 1
        return np.array([self.item, self.load]), reward, False, False, {}


class Shelf(gym.Env):
    """Six times something is put on a shelf. The clock that terminates it is not observed."""

    observation_space = gym.spaces.Discrete(ROOM + 1)
    action_space = gym.spaces.Discrete(len(THINGS))

    def reset(self, *, seed=None, options=None):
        self.time = self.load = 0
        return 0, {}

    def step(self, action):
        gain, size = THINGS[action]
        fits = self.load + size <= ROOM
        self.load += size * fits
        self.time += 1
        return self.load, np.array(gain, float) * fits, self.time == PUT, False, {}


def _environment(kind, make, step_limit):
    return GymnasiumEnvironment(
        EnvironmentSpec(
            name=kind.__name__.lower(),
            objectives=(Objective("first"), Objective("second")),
            observation_space=kind.observation_space,
            action_space=kind.action_space,
            step_limit=step_limit,
            reference_point=(-1.0, -1.0),
        ),
        make,
        num_slots=8,
    )


def knapsack():
    """The knapsack with the usual wrapper for a step limit."""
    limited = partial(_limited, len(WEIGHTS))
    return _environment(Knapsack, limited, len(WEIGHTS))


def _limited(num_steps):
    return gym.wrappers.TimeLimit(Knapsack(), num_steps)


def shelf():
    """The shelf, of which nobody says how long an episode is."""
    return _environment(Shelf, Shelf, 10 * PUT)


def every_return(environment, length):
    """The returns of all lists of actions of this length, each played."""
    env = environment._make()
    returns = []
    for actions in itertools.product(range(env.action_space.n), repeat=length):
        env.reset()
        total = np.zeros(2)
        for action in actions:
            _, reward, terminated, truncated, _ = env.step(action)
            total += reward
        assert terminated or truncated
        returns.append(total)
    return np.array(returns)
