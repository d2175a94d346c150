"""Prospect: whether there is ore is never seen, only the last probe; partial observability.

Observation: the number of probes so far and what the last one said, which is right in 75 % of all
cases. Actions: probe, drill, leave. Rewards: money, and -1 for each day. The truth is that of all
policies which decide by the observation.
"""

from itertools import product

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment
from pcn.pareto import unique_front

PROBES, RIGHT = 4, 0.75
ORE, NOTHING, PROBING = 10.0, -8.0, -0.4


class Prospect(ModelledEnvironment):
    steps = 50_000
    step_limit = 6
    reference_point = (-1.0, -7.0)
    demonstrations = (
        Demonstration(lambda state, time: 1, (0.5 * (ORE + NOTHING), -1.0)),
        Demonstration(
            lambda state, time: 0 if time == 0 else 1 if state[1] == 2 else 2,
            (PROBING + 0.5 * (RIGHT * ORE + (1 - RIGHT) * NOTHING), -2.0),
        ),
    )

    def __init__(self):
        self.observation_space = gym.spaces.MultiDiscrete([PROBES + 1, 3])
        self.action_space = gym.spaces.Discrete(3)

    def starts(self):
        return {(0, 0, ore): 0.5 for ore in (False, True)}

    def outcomes(self, state, action):
        probes, _, ore = state
        if action:
            money = (ORE if ore else NOTHING) if action == 1 else 0.0
            return [(1.0, state, (money, -1), True)]
        if probes == PROBES:
            return [(1.0, state, (PROBING, -1), False)]
        good = RIGHT if ore else 1 - RIGHT
        return [
            (likely, (probes + 1, said, ore), (PROBING, -1), False)
            for said, likely in ((1, 1 - good), (2, good))
        ]

    def observed(self):
        return np.array(self.state[:2])

    @classmethod
    def true_front(cls):
        """Every way to decide by the number of probes and the last answer."""
        points = []
        for first in (0, 1, 2):
            for rest in product((0, 1, 2), repeat=2 * PROBES):
                if 0 not in rest[-2:]:
                    points.append(cls._returned(first, rest))
        front = np.array(points).round(9)
        return front[unique_front(front)]

    @classmethod
    def _returned(cls, first, rest):
        rules, total = cls(), np.zeros(2)
        here = dict(rules.starts())
        while here:
            state, likely = here.popitem()
            probes, said, _ = state
            action = first if not probes else rest[2 * (probes - 1) + said - 1]
            for probability, following, reward, ended in rules.outcomes(state, action):
                total += likely * probability * np.array(reward)
                if not ended:
                    here[following] = here.get(following, 0.0) + likely * probability
        return total
