"""Castle: 20 by 20 cells, a key opens the door to the treasure; wind comes and goes; tabular.

Observation: row, column, key, wind. Actions: the four directions. While the wind blows, half of all
steps go up instead; each step it begins or ends with probability 1/10. Rewards: 10 for the treasure
behind the door or 2 for the coins this side of it, either of which ends the episode; -1 for each
step.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import ModelledEnvironment

SIZE = 20
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
KEY, TREASURE, COINS = (15, 3), (3, 16), (2, 8)
WALL, DOOR = 10, 8
"""The column of the wall, and the row of the door in it."""
CHANGES, BLOWS = 0.1, 0.5


class Castle(ModelledEnvironment):
    steps = 100_000
    step_limit = 120
    reference_point = (-0.1, -120.1)
    num_weights = 60
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.MultiDiscrete([SIZE, SIZE, 2, 2])
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(2, 2, 0, 0): 1.0}

    def outcomes(self, state, action):
        *_, wind = state
        possible = []
        for changed, now in ((1 - CHANGES, wind), (CHANGES, 1 - wind)):
            for probability, way in ((1 - BLOWS * now, action), (BLOWS * now, 0)):
                if probability > 0:
                    possible.append((changed * probability, *self._moved(state, way, now)))
        return possible

    def _moved(self, state, way, wind):
        row, column, key, _ = state
        down, right = MOVES[way]
        cell = (min(max(row + down, 0), SIZE - 1), min(max(column + right, 0), SIZE - 1))
        if cell[1] == WALL and not (cell[0] == DOOR and key):
            cell = (row, column)
        prize = {TREASURE: 10.0, COINS: 2.0}.get(cell, 0.0)
        return (*cell, int(key or cell == KEY), wind), (prize, -1.0), prize > 0

    def observed(self):
        return np.array(self.state)
