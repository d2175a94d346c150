"""Salvage: dive for gold in units of 1e5 and poison in units of 1e-4, with a swell that changes.

Observation: depth, swell (blurred), load, air that is left; real numbers. Actions: down, up, dig.
Rewards: what the load is worth once it is on land, minus the poison that is taken in. Deeper means
more gold and, in a heavy swell, more poison. After 20 steps the air is used up and the load lost.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import ModelledEnvironment

DEEPEST, MOST = 4, 12
GOLD, POISON = 1e5, 1e-4
SWELLS = ((0.7, 0.3, 0.0), (0.2, 0.6, 0.2), (0.0, 0.4, 0.6))
"""How likely each swell follows the present one."""


class Salvage(ModelledEnvironment):
    steps = 60_000
    step_limit = 20
    reference_point = (-1e4, -3e-3)
    num_weights = 100
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.Box(-1, 2, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def starts(self):
        return {(0, swell, 0): 1 / 3 for swell in range(3)}

    def outcomes(self, state, action):
        depth, swell, load = state
        if action == 1 and depth == 0:
            return [(1.0, state, (GOLD * load, 0.0), True)]
        below = min(max(depth + (1, -1, 0)[action], 0), DEEPEST)
        poison = -POISON * depth * (swell + (action == 2)) if depth > 1 else 0.0
        finds = 0.2 * depth if action == 2 else 0.0
        possible = []
        for found, likely in ((0, 1 - finds), (1, finds)):
            held = min(load + found * depth, MOST)
            for after, probability in enumerate(SWELLS[swell]):
                if likely * probability:
                    following = (below, after, held)
                    possible.append((likely * probability, following, (0.0, poison), False))
        return possible

    def observed(self):
        depth, swell, load = self.state
        blurred = (swell + self.np_random.uniform(-0.4, 0.4)) / 2
        return np.array([depth / 4, blurred, load / MOST, 1 - self.time / 20], np.float32)
