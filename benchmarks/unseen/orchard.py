"""Orchard: a maze with three trees, deterministic but for where it begins; 3 objectives.

Observation: row, column and which trees were picked, as numbers. Actions: the four directions.
Rewards: apples, pears, -1 for each step. Episodes begin on any free cell and end at the gate.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import ModelledEnvironment

MAP = (
    "..........",
    ".####.###.",
    ".#A.#...#.",
    ".#..#.#.#.",
    ".#.##.#.#.",
    "......#P#.",
    ".####.###.",
    ".#A...#...",
    ".######.#.",
    "........#G",
)
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
TREES = {(2, 2): (3.0, 0.0), (5, 7): (0.0, 2.0), (7, 2): (4.0, 0.0)}


class Orchard(ModelledEnvironment):
    steps = 60_000
    step_limit = 60
    reference_point = (-0.1, -0.1, -60.1)
    num_weights = 200
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.MultiDiscrete([len(MAP), len(MAP), 8])
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        free = [(row, column, 0) for row, cells in enumerate(MAP) for column in _free(cells)]
        return dict.fromkeys(free, 1 / len(free))

    def outcomes(self, state, action):
        row, column, picked = state
        down, right = MOVES[action]
        cell = (min(max(row + down, 0), 9), min(max(column + right, 0), 9))
        if MAP[cell[0]][cell[1]] == "#":
            cell = (row, column)
        tree = 1 << list(TREES).index(cell) if cell in TREES else 0
        fruit = TREES[cell] if tree & ~picked else (0.0, 0.0)
        ends = MAP[cell[0]][cell[1]] == "G"
        return [(1.0, (*cell, picked | tree), (*fruit, -1.0), ends)]

    def observed(self):
        return np.array(self.state)


def _free(cells):
    return [column for column, cell in enumerate(cells) if cell == "."]
