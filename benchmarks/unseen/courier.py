"""Courier: deliveries that random walks hardly ever make, on a slippery grid; tabular.

Observation: row, column, what is carried. Actions: the four directions; one step of ten slips to a
side. Rewards: a delivered letter, a delivered parcel, -1 for each step. The letter lies in one far
corner and the parcel in another; both go to the house in the third, where the episode ends.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import ModelledEnvironment

SIZE = 18
LETTER, PARCEL, HOUSE = (0, SIZE - 1), (SIZE - 1, 0), (SIZE - 1, SIZE - 1)
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
SLIPS = 0.1


class Courier(ModelledEnvironment):
    steps = 100_000
    step_limit = 150
    reference_point = (-0.1, -0.1, -60.0)
    num_weights = 40
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.MultiDiscrete([SIZE, SIZE, 4])
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(0, 0, 0): 1.0}

    def outcomes(self, state, action):
        row, column, carried = state
        sides = (2, 3) if action < 2 else (0, 1)
        possible = []
        for probability, way in ((1 - SLIPS, action), *((SLIPS / 2, side) for side in sides)):
            down, right = MOVES[way]
            cell = (min(max(row + down, 0), SIZE - 1), min(max(column + right, 0), SIZE - 1))
            has = carried | (cell == LETTER) | 2 * (cell == PARCEL)
            if cell == HOUSE and has:
                possible.append((probability, (*cell, has), (has & 1, has >> 1, -1), True))
            else:
                possible.append((probability, (*cell, has), (0, 0, -1), False))
        return possible

    def observed(self):
        return np.array(self.state)
