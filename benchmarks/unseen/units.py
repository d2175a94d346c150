"""Units: four objectives of very different size, one of them constant; deterministic.

Observation: the stage and how often each action was taken, all from 0 to 1. Actions: build, heal,
print, walk. Rewards: euros (1e5), grams (1e-4), attendance (7 in every step), and metres. What an
action brings falls with each time that it was taken. Ends after 12 steps.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment

STAGES = 12
AMOUNTS = np.array([(1e5, 0, 7, 0), (0, 1e-4, 7, 0), (4e4, 5e-5, 7, 0), (0, 0, 7, 3.0)])
FALLS = 0.9
FIRST_BUILDING = (1 - FALLS**STAGES) / (1 - FALLS)


class Units(ModelledEnvironment):
    steps = 50_000
    step_limit = STAGES
    reference_point = (-1e4, -1e-5, 80.0, -1.0)
    demonstrations = (
        Demonstration(lambda state, time: 0, (1e5 * FIRST_BUILDING, 0.0, 84.0, 0.0)),
        Demonstration(lambda state, time: 3, (0.0, 0.0, 84.0, 3.0 * FIRST_BUILDING)),
    )

    def __init__(self):
        self.observation_space = gym.spaces.Box(0, 1, (5,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(0, 0, 0, 0): 1.0}

    def actions(self, state):
        return range(4)

    def outcomes(self, state, action):
        amount = AMOUNTS[action] * np.array([1, 1, 0, 1]) * FALLS ** state[action]
        amount[2] = 7.0
        following = tuple(taken + (action == other) for other, taken in enumerate(state))
        return [(1.0, following, tuple(amount), sum(following) == STAGES)]

    def observed(self):
        return np.array([sum(self.state), *self.state], np.float32) / STAGES
