"""Debt: negative rewards only, and to pay at once is on the front; random, three real numbers.

Observation: the debt, the tiredness, and today's wage. Actions: pay what is owed and end, work,
work hard, rest. Rewards: minus the debt that is paid, minus the effort. Wages change at random.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment

DEBT, MOST_TIRED = 20, 4
WAGES = (0, 1, 2, 4)


class Debt(ModelledEnvironment):
    steps = 50_000
    step_limit = 40
    reference_point = (-25.0, -12.0)
    num_weights = 60
    demonstrations = (Demonstration(lambda state, time: 0, (-20.0, 0.0)),)

    def __init__(self):
        self.observation_space = gym.spaces.Box(0, 2, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(DEBT, 0, wage): 0.25 for wage in WAGES}

    def outcomes(self, state, action):
        debt, tired, wage = state
        if action == 0:
            return [(1.0, state, (-debt, 0), True)]
        paid = (0, wage, 2 * wage, 0)[action]
        effort = (0, 1 + 0.5 * tired, 3 + 1.5 * tired, 0.2)[action]
        change = (0, 1, 2, -2)[action]
        following = (max(debt - paid, 0), min(max(tired + change, 0), MOST_TIRED))
        return [(0.25, (*following, after), (0, -effort), False) for after in WAGES]

    def observed(self):
        debt, tired, wage = self.state
        return np.array([debt / DEBT, tired / MOST_TIRED, wage / 4], np.float32)
