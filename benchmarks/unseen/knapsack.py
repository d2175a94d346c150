"""Knapsack: some of fourteen things, each worth something in six ways; masks, deterministic.

Observation: which things are packed, as bits. Actions: which thing to pack next, or to leave;
things that are packed or too heavy are masked. Rewards: what a thing is worth in each of six ways.
"""

from itertools import combinations

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment
from pcn.pareto import unique_front

THINGS, HOLDS = 14, 20
DRAWN = np.random.default_rng(12)
WEIGHTS = DRAWN.integers(2, 9, THINGS)
WORTH = DRAWN.integers(0, 6, (THINGS, 6)) * (DRAWN.random((THINGS, 6)) < 0.5)

MOST = (4, 5, 7, 9, 12)
"""The things that are worth most in all ways together."""


def pack(state: tuple[int, ...], time: int) -> int:
    """Pack these, one after the other, and leave."""
    return MOST[time] if time < len(MOST) else THINGS


class Knapsack(ModelledEnvironment):
    steps = 50_000
    step_limit = THINGS + 1
    reference_point = (-1.0,) * 6
    demonstrations = (Demonstration(pack, (7.0, 12.0, 5.0, 15.0, 13.0, 9.0)),)

    def __init__(self):
        self.observation_space = gym.spaces.MultiBinary(THINGS)
        self.action_space = gym.spaces.Discrete(THINGS + 1)

    def starts(self):
        return {(0,) * THINGS: 1.0}

    def actions(self, state):
        return np.flatnonzero(self.mask(state)).tolist()

    def mask(self, state):
        packed = np.array(state, bool)
        fits = ~packed & (WEIGHTS[packed].sum() + WEIGHTS <= HOLDS)
        return np.append(fits, True)

    def outcomes(self, state, action):
        if action == THINGS:
            return [(1.0, state, np.zeros(6), True)]
        packed = (*state[:action], 1, *state[action + 1 :])
        return [(1.0, packed, WORTH[action], False)]

    def observed(self):
        return np.array(self.state, np.int8)

    def info(self):
        return {"action_mask": self.mask(self.state).astype(np.int8)}

    @classmethod
    def true_front(cls):
        """All that can be packed."""
        found = {
            tuple(WORTH[list(chosen)].sum(axis=0))
            for number in range(THINGS + 1)
            for chosen in combinations(range(THINGS), number)
            if WEIGHTS[list(chosen)].sum() <= HOLDS
        }
        points = np.array(sorted(found), np.float64)
        return points[unique_front(points)]
