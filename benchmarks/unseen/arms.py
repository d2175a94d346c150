"""Arms: one decision among thirty, three objectives, much noise.

Observation: always the same number. Actions: the arms. Each reward is low nine times of ten, else
high, so that single returns say little: the noise is as large as all that arms differ in.
"""

from itertools import product
from math import prod

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment
from pcn.pareto import unique_front

ARMS = 30
NOISE = ((0.9, -0.5), (0.1, 4.5))
"""Probability and what is added to each objective on its own; 0 on average."""
DRAWS = [
    (prod(p for p, _ in noise), [extra for _, extra in noise]) for noise in product(NOISE, repeat=3)
]


def means() -> np.ndarray:
    """What each arm brings on average: near a sphere, at different depths below it."""
    number = np.arange(ARMS)
    height, turn = (number + 0.5) / ARMS, 0.5 * np.pi * (number * 0.618034 % 1)
    flat = np.sqrt(1 - height**2)
    directions = np.stack([flat * np.cos(turn), flat * np.sin(turn), height], axis=1)
    return (3.0 - 0.4 * (number * 7 % 5))[:, None] * directions


MEANS = means()


class Arms(ModelledEnvironment):
    steps = 50_000
    step_limit = 1
    reference_point = (-0.5, -0.5, -0.5)
    demonstrations = (Demonstration(lambda state, time: 0, tuple(MEANS[0])),)

    def __init__(self):
        self.observation_space = gym.spaces.Box(0, 1, (1,), np.float32)
        self.action_space = gym.spaces.Discrete(ARMS)

    def starts(self):
        return {0: 1.0}

    def outcomes(self, state, action):
        return [(likely, 0, MEANS[action] + extra, True) for likely, extra in DRAWS]

    def observed(self):
        return np.zeros(1, np.float32)

    @classmethod
    def true_front(cls):
        """The arms that no other arm dominates."""
        return MEANS[unique_front(MEANS)]
