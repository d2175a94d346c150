"""Units: four objectives of very different size, one of them constant; deterministic.

Observation: the stage and how often each action was taken, all from 0 to 1. Actions: build, heal,
print, walk. Rewards: euros (1e5), grams (1e-4), attendance (7 in every step), and metres. What an
action brings falls with each time that it was taken. Ends after 12 steps.
"""

from itertools import product

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment
from pcn.pareto import unique_front

STAGES = 12
AMOUNTS = np.array([(1e5, 0, 7, 0), (0, 1e-4, 7, 0), (4e4, 5e-5, 7, 0), (0, 0, 7, 3.0)])
FALLS = 0.9


def total(times: int) -> float:
    """How many times the first amount an action brings that is taken so many times."""
    return (1 - FALLS**times) / (1 - FALLS)


def richest(state: tuple[int, ...], time: int) -> int:
    """Take what brings most euros: ten times building, twice printing."""
    return 0 if 1e5 * FALLS ** state[0] >= 4e4 * FALLS ** state[2] else 2


class Units(ModelledEnvironment):
    steps = 50_000
    step_limit = STAGES
    reference_point = (-1e4, -1e-5, 80.0, -1.0)
    demonstrations = (
        Demonstration(richest, (1e5 * total(10) + 4e4 * total(2), 5e-5 * total(2), 84.0, 0.0)),
        Demonstration(lambda state, time: 3, (0.0, 0.0, 84.0, 3.0 * total(12))),
    )

    def __init__(self):
        self.observation_space = gym.spaces.Box(0, 1, (5,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(0, 0, 0, 0): 1.0}

    def outcomes(self, state, action):
        amount = AMOUNTS[action] * np.array(
            [FALLS ** state[action]] * 2 + [1, FALLS ** state[action]]
        )
        following = tuple(taken + (action == other) for other, taken in enumerate(state))
        return [(1.0, following, tuple(amount), sum(following) == STAGES)]

    def observed(self):
        return np.array([sum(self.state), *self.state], np.float32) / STAGES

    @classmethod
    def true_front(cls):
        """The order of actions does not matter: all numbers of times that add up to 12."""
        points = []
        for times in product(range(STAGES + 1), repeat=4):
            if sum(times) == STAGES:
                brought = AMOUNTS * np.array([total(number) for number in times])[:, None]
                points.append([*brought.sum(axis=0)[:2], 7.0 * STAGES, brought.sum(axis=0)[3]])
        return np.array(points)[unique_front(np.array(points))]
