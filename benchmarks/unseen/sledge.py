"""Sledge: 50 steps of control, seen as three real numbers, deterministic.

Observation: position, speed and time, all from 0 to 1. Actions: brake, glide, push, push hard.
Rewards: the distance, and minus the effort and the bumps: fast driving over the rough part costs.
Ends after 50 steps.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment
from pcn.pareto import unique_front

FASTEST, END = 6, 150
ROUGH = range(30, 60)


class Sledge(ModelledEnvironment):
    steps = 50_000
    step_limit = 50
    reference_point = (-1.0, -100.0)
    demonstrations = (
        Demonstration(lambda state, time: 1, (0.0, 0.0)),
        Demonstration(lambda state, time: 2 if time == 48 else 1, (2.0, -1.0)),
    )

    def __init__(self):
        self.observation_space = gym.spaces.Box(0, 1, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(0, 0, 0): 1.0}

    def outcomes(self, state, action):
        position, speed, time = state
        slowed = time % 3 == 2  # by the snow
        speed = min(max(speed + (-2, 0, 1, 2)[action] - slowed, 0), FASTEST)
        distance = min(speed, END - position)
        bumps = max(speed - 2, 0) ** 2 if position in ROUGH else 0
        cost = (0, 0, 1, 3)[action] + bumps
        return [(1.0, (position + distance, speed, time + 1), (distance, -cost), False)]

    def observed(self):
        position, speed, time = self.state
        return np.array([position / END, speed / FASTEST, time / 50], np.float32)

    @classmethod
    def true_front(cls):
        """The least cost of every position and speed, step by step."""
        rules, costs = cls(), {(0, 0, 0): 0.0}
        for _ in range(cls.step_limit):
            reached: dict[tuple[int, int, int], float] = {}
            for state, cost in costs.items():
                for action in rules.actions(state):
                    [(_, following, (_, less), _)] = rules.outcomes(state, action)
                    reached[following] = min(reached.get(following, np.inf), cost - less)
            costs = reached
        points = np.array([(state[0], -cost) for state, cost in costs.items()], np.float64)
        return points[unique_front(points)]
