"""Clinic: staff for a queue, with a discount of .95; 100 hours, random arrivals and no-shows.

Observation: how many are waiting, one whole number. Actions: how many are on duty. Rewards:
patients who were treated, -1 for each who waits, and the wages; those on duty treat one with
probability 0.7 each.
"""

from math import comb

import gymnasium as gym

from benchmarks.unseen.modelled import ModelledEnvironment

MOST, STAFF, TREATS = 10, 3, 0.7
ARRIVALS = ((0, 0.4), (1, 0.3), (2, 0.2), (4, 0.1))


class Clinic(ModelledEnvironment):
    steps = 60_000
    step_limit = 100
    discount = 0.95
    reference_point = (-1.0, -220.0, -70.0)
    num_weights = 100
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.Discrete(MOST + 1)
        self.action_space = gym.spaces.Discrete(STAFF + 1)

    def starts(self):
        return {3: 1.0}

    def outcomes(self, state, action):
        able, possible = min(action, state), []
        for treated in range(able + 1):
            likely = comb(able, treated) * TREATS**treated * (1 - TREATS) ** (able - treated)
            left = state - treated
            for arrived, probability in ARRIVALS:
                reward = (treated, -left, -action)
                after = min(left + arrived, MOST)
                possible.append((likely * probability, after, reward, False))
        return possible

    def observed(self):
        return self.state
