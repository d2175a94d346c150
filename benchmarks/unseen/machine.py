"""Machine: run, repair or replace, for 400 days; breakdowns are random, ages are whole numbers.

Observation: the age, and whether the machine is fine, worn or broken. Rewards: what is made, and
minus the cost. A machine of a greater age makes less and breaks down more often.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import ModelledEnvironment

OLDEST, FINE, WORN, BROKEN = 20, 0, 1, 2
REPAIR, REPLACE = 6.0, 25.0


class Machine(ModelledEnvironment):
    steps = 80_000
    step_limit = 400
    reference_point = (0.0, -3000.0)
    num_weights = 60
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.MultiDiscrete([OLDEST + 1, 3])
        self.action_space = gym.spaces.Discrete(3)

    def starts(self):
        return {(5, FINE): 1.0}

    def outcomes(self, state, action):
        age, condition = state
        if action == 2:
            return [(1.0, (0, FINE), (0, -REPLACE), False)]
        if action == 1:
            return [(1.0, (age, FINE), (0, -REPAIR), False)]
        if condition == BROKEN:
            return [(1.0, state, (0, 0), False)]
        made = (10.0 - 0.3 * age) * (1.0 if condition == FINE else 0.6)
        breaks, wears = 0.01 + 0.01 * age + 0.1 * condition, 0.15 * (condition == FINE)
        older = min(age + 1, OLDEST)
        return [
            (breaks, (older, BROKEN), (made, 0), False),
            *([(wears, (older, WORN), (made, 0), False)] if wears else []),
            (1 - breaks - wears, (older, condition), (made, 0), False),
        ]

    def observed(self):
        return np.array(self.state)
