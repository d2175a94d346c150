"""Gusts: a windy grid with two treasures and a reef, seen as blurred real numbers; stochastic.

Observation: column and row, both blurred, and a gauge that is mere noise. Actions: the four
directions. In the three middle columns wind drives one step up with probability 0.3. Rewards: the
treasure, -1 for each step, -1 for each step that ends on the reef. Ends at a treasure.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import ModelledEnvironment

COLUMNS, ROWS = 7, 6
TREASURES = {(3, 5): 3.0, (6, 1): 8.0}
REEF = {(column, row) for column in (2, 3, 4) for row in (0, 1)}
WIND = 0.3
MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))


class Gusts(ModelledEnvironment):
    steps = 60_000
    step_limit = 60
    reference_point = (-0.1, -25.0, -5.0)
    num_weights = 200
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.Box(-9, 9, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(0, 2): 1.0}

    def outcomes(self, state, action):
        right, down = MOVES[action]
        windy = WIND if state[0] in (2, 3, 4) else 0.0
        possible = []
        for probability, lift in ((1 - windy, 0), (windy, 1)):
            cell = (
                min(max(state[0] + right, 0), COLUMNS - 1),
                min(max(state[1] + down - lift, 0), ROWS - 1),
            )
            reward = (TREASURES.get(cell, 0.0), -1, -float(cell in REEF))
            if probability:
                possible.append((probability, cell, reward, cell in TREASURES))
        return possible

    def observed(self):
        blur = self.np_random.uniform(-0.4, 0.4, 2)
        gauge = np.clip(self.np_random.normal(), -9, 9)
        return np.array([self.state[0] + blur[0], self.state[1] + blur[1], gauge], np.float32)
