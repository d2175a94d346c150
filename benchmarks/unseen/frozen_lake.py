"""Frozen lake: Gymnasium's slippery 8 by 8 map with two parcels, seen as one number; 3 objectives.

Observation: the cell and what was collected, as one number. Actions: left, down, right, up; each
goes where it should in one of three cases and to either side in the others. Rewards: parcels that
were brought to the goal, -1 for falling into a hole, -0.01 for each step.
"""

import gymnasium as gym

from benchmarks.unseen.modelled import ModelledEnvironment

MAP = (
    "SFFFFFFF",
    "FFFFFFFF",
    "FFFHFFFP",
    "FFFFFHFF",
    "FFFHFFFF",
    "FHHFFFHF",
    "FHFFHFHF",
    "PFFHFFFG",
)
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))
PARCELS = ((2, 7), (7, 0))


class FrozenLake(ModelledEnvironment):
    steps = 100_000
    step_limit = 200
    reference_point = (-0.1, -1.1, -2.1)
    num_weights = 60
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.Discrete(64 * 4)
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(0, 0, 0): 1.0}

    def outcomes(self, state, action):
        row, column, has = state
        possible = []
        for way in (action - 1, action, action + 1):
            down, right = MOVES[way % 4]
            cell = (min(max(row + down, 0), 7), min(max(column + right, 0), 7))
            holds = has | ((cell == PARCELS[0]) + 2 * (cell == PARCELS[1]))
            what = MAP[cell[0]][cell[1]]
            brought = float(what == "G") * (0.5 + (holds & 1) + (holds >> 1))
            reward = (brought, -float(what == "H"), -0.01)
            possible.append((1 / 3, (*cell, holds), reward, what in "GH"))
        return possible

    def observed(self):
        row, column, has = self.state
        return (8 * row + column) * 4 + has
