"""Harvest: 300 steps whose payoff comes at the end, deterministic, seen as four real numbers.

Observation: time, moisture, fertiliser and growth so far, all from 0 to 1. Actions: wait, water,
fertilise. Rewards, all with the last step: growth, and minus the costs. A field grows by 1 in a
step if it is neither dry nor flooded, and by 2 if it is fertilised, too.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment
from pcn.pareto import unique_front

WETTEST, GROWS = 10, range(2, 8)
LASTS = 15
"""For how many steps fertiliser works."""


def keep_growing(state: tuple[int, int], time: int) -> int:
    """Fertilise every 15 steps, and water in time: 20 and 74 times."""
    moisture, fertiliser = state
    if fertiliser <= 1 and time < 299:
        return 2
    return int(time < 299 and moisture <= (3 if fertiliser == 2 else 2))


class Harvest(ModelledEnvironment):
    steps = 60_000
    step_limit = 300
    pays_at_the_end = True
    reference_point = (0.0, -140.0)
    demonstrations = (
        Demonstration(lambda state, time: 0, (4.0, 0.0)),
        Demonstration(keep_growing, (599.0, -134.0)),
    )

    def __init__(self):
        self.observation_space = gym.spaces.Box(0, 1, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def starts(self):
        return {(5, 0): 1.0}

    def outcomes(self, state, action):
        moisture, fertiliser = state
        growth = (moisture in GROWS) * (2 if fertiliser else 1)
        moisture = min(moisture + 4, WETTEST) if action == 1 else moisture
        following = (max(moisture - 1, 0), LASTS if action == 2 else max(fertiliser - 1, 0))
        return [(1.0, following, (growth, -(0, 1, 3)[action]), False)]

    def observed(self):
        moisture, fertiliser = self.state
        numbers = (self.time / 300, moisture / WETTEST, fertiliser / LASTS, self.owed[0] / 600)
        return np.array(numbers, np.float32)

    @classmethod
    def true_front(cls):
        """The least cost of every growth in every state, step by step."""
        rules, most = cls(), 2 * cls.step_limit + 1
        costs = {(5, 0): np.where(np.arange(most) == 0, 0.0, np.inf)}
        for _ in range(cls.step_limit):
            reached: dict[tuple[int, int], np.ndarray] = {}
            for state, cost in costs.items():
                for action in rules.actions(state):
                    [(_, following, (growth, less), _)] = rules.outcomes(state, action)
                    moved = np.concatenate([np.full(growth, np.inf), cost[: most - growth]]) - less
                    reached[following] = np.minimum(reached.get(following, np.inf), moved)
            costs = reached
        least = np.min(list(costs.values()), axis=0)
        points = np.column_stack([np.arange(most), -least])[np.isfinite(least)].astype(np.float64)
        return points[unique_front(points)]
