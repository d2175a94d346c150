"""Gambles: ten decisions between a safe amount, a bad bet, a good bet, and applause.

Observation: the stage, the money and the applause so far. Actions: safe, bad bet, good bet and
perform. Rewards: money and applause. A bad bet pays much and seldom, less than the safe amount on
average: lucky episodes with it look best and are not.
"""

from itertools import product

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment
from pcn.pareto import unique_front

SAFE = (1.0, 1.2, 0.8, 1.5, 1.0, 0.6, 1.1, 0.9, 1.3, 1.0)
BAD = (10.0, 0.06)
"""What the bad bet pays, and its probability: 0.6 on average."""
GOOD = (3.0, 0.38)
"""1.14 on average: better than the safe amount at seven of ten stages."""
APPLAUSE = (2.0, 0.5)
"""Drawn with this probability, at twice the amount in every third stage."""


class Gambles(ModelledEnvironment):
    steps = 60_000
    step_limit = 10
    reference_point = (-1.0, -1.0)
    demonstrations = (
        Demonstration(
            lambda state, time: 0 if SAFE[state[0]] > 1.14 else 2,
            (sum(max(safe, 1.14) for safe in SAFE), 0.0),
        ),
        Demonstration(lambda state, time: 3, (0.0, 14.0)),
    )

    def __init__(self):
        self.observation_space = gym.spaces.Box(0, 200, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(0, 0.0, 0.0): 1.0}

    def outcomes(self, state, action):
        stage, money, applause = state
        fame = APPLAUSE[0] * (2 if stage % 3 == 0 else 1)
        amount, probability = ((SAFE[stage], 1.0), BAD, GOOD, (fame, APPLAUSE[1]))[action]
        won = (0.0, amount) if action == 3 else (amount, 0.0)
        possible = [(probability, won)] + ([(1 - probability, (0.0, 0.0))] * (probability < 1))
        return [
            (p, (stage + 1, money + gain[0], applause + gain[1]), gain, stage == 9)
            for p, gain in possible
        ]

    def observed(self):
        return np.array(self.state, np.float32)

    @classmethod
    def true_front(cls):
        """Stages do not depend on each other: all sums of what is best in each."""
        stages = [
            ((max(safe, 1.14), 0.0), (0.0, 2.0 if stage % 3 == 0 else 1.0))
            for stage, safe in enumerate(SAFE)
        ]
        points = np.array([np.sum(choice, axis=0) for choice in product(*stages)]).round(9)
        return points[unique_front(points)]
