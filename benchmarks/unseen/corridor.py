"""Corridor: chests along a winding corridor of 112 cells, deterministic, seen as two real numbers.

Observation: column and lane, both from 0 to 1. Actions: right, left, down, up, open. Rewards: the
value of the chest that is opened, -1 for each step, -1 for each thorn. Ends when a chest is opened.
Lanes lie one below another and are joined at their ends; a thorn hedge in the middle of two lanes
is a shorter way down.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment

COLUMNS, LANES = 14, 8
CHESTS = {(7, 0): 1.0, (0, 1): 3.0, (10, 3): 10.0, (4, 5): 25.0, (0, 7): 60.0}
THORNS = {(7, 1): 1.0, (7, 4): 1.0}
"""Hedges that can be crossed downwards, from these cells (column, lane)."""


def along(state: tuple[int, int], time: int) -> int:
    """Walk the corridor to the last chest."""
    column, lane = state
    if (column, lane) == (0, LANES - 1):
        return 4
    rightwards = lane % 2 == 0
    return 2 if column == (COLUMNS - 1 if rightwards else 0) else 0 if rightwards else 1


class Corridor(ModelledEnvironment):
    steps = 60_000
    step_limit = 150
    reference_point = (0.0, -130.0, -3.0)
    demonstrations = (
        Demonstration(along, (60.0, -112.0, 0.0)),
        Demonstration(lambda state, time: 4 if state[0] == 7 else 0, (1.0, -8.0, 0.0)),
    )

    def __init__(self):
        self.observation_space = gym.spaces.Box(0, 1, (2,), np.float32)
        self.action_space = gym.spaces.Discrete(5)

    def starts(self):
        return {(0, 0): 1.0}

    def outcomes(self, state, action):
        column, lane = state
        if action == 4:
            value = CHESTS.get(state, 0.0)
            return [(1.0, state, (value, -1, 0), value > 0)]
        hurt = 0.0
        if action < 2:
            column = min(max(column + (1, -1)[action], 0), COLUMNS - 1)
        else:
            upper = lane if action == 2 else lane - 1
            joined = column == (COLUMNS - 1 if upper % 2 == 0 else 0)
            hurt = THORNS.get(state, 0.0) if action == 2 and not joined else 0.0
            if 0 <= upper < LANES - 1 and (joined or hurt):
                lane += 1 if action == 2 else -1
        return [(1.0, (column, lane), (0, -1, -hurt), False)]

    def observed(self):
        column, lane = self.state
        return np.array([column / (COLUMNS - 1), lane / (LANES - 1)], np.float32)
