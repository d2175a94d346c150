"""Haze: fishing or collecting wood for 250 steps, where one stands is seen through noise.

Observation: two numbers that say fishing or wood, one without meaning, all three with noise, and
the share of the time that has passed. Rewards: wood and fish, by chance, where one stands.
Actions: where to be next. No planning is possible, and episodes are longer than values look ahead.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment

WOOD, FISH = 0.9, 0.1
"""How likely each is in a step."""
NOISE = 0.3
FISHING, IN_THE_WOODS = range(2)
STEPS = 250


class Haze(ModelledEnvironment):
    steps = 60_000
    step_limit = STEPS
    reference_point = (0.0, 0.0)
    demonstrations = (
        Demonstration(lambda state, time: IN_THE_WOODS, (STEPS * WOOD, 0.0)),
        Demonstration(lambda state, time: FISHING, (WOOD, (STEPS - 1) * FISH)),
        Demonstration(
            lambda state, time: IN_THE_WOODS if time < 99 else FISHING, (100 * WOOD, 150 * FISH)
        ),
    )

    def __init__(self):
        self.observation_space = gym.spaces.Box(-10, 10, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(2)

    def starts(self):
        return {IN_THE_WOODS: 1.0}

    def outcomes(self, state, action):
        if state == FISHING:
            return [(FISH, action, (0.0, 1.0), False), (1 - FISH, action, (0.0, 0.0), False)]
        return [(WOOD, action, (1.0, 0.0), False), (1 - WOOD, action, (0.0, 0.0), False)]

    def observed(self):
        place = np.eye(3)[self.state] + self.np_random.normal(0, NOISE, 3)
        return np.append(place, self.time / STEPS).clip(-10, 10).astype(np.float32)

    @classmethod
    def true_front(cls):
        """Episodes begin in the woods; every number of further steps there is a trade-off."""
        in_the_woods = np.arange(1, STEPS + 1)
        return np.stack([in_the_woods * WOOD, (STEPS - in_the_woods) * FISH], axis=1)
