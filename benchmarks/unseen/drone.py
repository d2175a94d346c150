"""Drone: two shops, a charger and wind; about 3,800 states in four whole numbers; 3 objectives.

Observation: row, column, charge, what is carried. Actions: the four directions, wait; 15 % of all
steps go down. Rewards: what is carried home (2, 3, or 6 for both), -10 for an empty battery, either
of which ends the episode; -1 for each step.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import ModelledEnvironment

SIZE, CHARGE, CHARGED = 8, 20, 5
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1), (0, 0))
SHOPS = {(0, 7): 1, (7, 7): 2}
HOME, CHARGER = (3, 0), (4, 4)
PAID = (0.0, 2.0, 3.0, 6.0)
WIND = 0.15


class Drone(ModelledEnvironment):
    steps = 100_000
    step_limit = 80
    reference_point = (-0.1, -10.1, -81.0)
    num_weights = 60
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.MultiDiscrete([SIZE, SIZE, CHARGE + 1, 4])
        self.action_space = gym.spaces.Discrete(5)

    def starts(self):
        return {(3, 1, CHARGE, 0): 1.0}

    def outcomes(self, state, action):
        row, column, charge, carried = state
        possible = []
        for probability, way in ((1 - WIND, action), (WIND, 1)):
            down, right = MOVES[way]
            cell = (min(max(row + down, 0), SIZE - 1), min(max(column + right, 0), SIZE - 1))
            has = carried | SHOPS.get(cell, 0)
            left = charge - (action < 4) + CHARGED * (cell == CHARGER)
            home, empty = cell == HOME, left <= 0 and cell != HOME
            reward = (PAID[has] if home else 0.0, -10.0 * empty, -1.0)
            following = (*cell, min(max(left, 0), CHARGE), has)
            possible.append((probability, following, reward, home or empty))
        return possible

    def observed(self):
        return np.array(self.state)
