"""Ponds: fish at random in three ponds, and go home at any time; nothing else ends an episode.

Observation: where one stands, and the fish that are left in each pond. Actions: cast, walk on, go
home. Rewards: fish, -1 for each step. Each fish that was caught makes the next one rarer, and an
empty pond stays empty; there is no step limit anywhere.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment

FISH = (2, 4, 6)
CATCHES = 0.12
"""A cast succeeds with this probability for each fish in the pond."""
WALK = 2.0


class Ponds(ModelledEnvironment):
    steps = 60_000
    step_limit = 120
    truncates = False
    reference_point = (-1.0, -80.0)
    num_weights = 100
    demonstrations = (Demonstration(lambda state, time: 2, (0.0, -1.0)),)

    def __init__(self):
        self.observation_space = gym.spaces.MultiDiscrete([3, *(most + 1 for most in FISH)])
        self.action_space = gym.spaces.Discrete(3)

    def starts(self):
        return {(0, *FISH): 1.0}

    def outcomes(self, state, action):
        place, *left = state
        if action == 2:
            return [(1.0, state, (0, -1), True)]
        if action == 1:
            return [(1.0, (min(place + 1, 2), *left), (0, -WALK), False)]
        probability = CATCHES * left[place]
        nothing = (1 - probability, state, (0, -1), False)
        if not probability:
            return [nothing]
        left[place] -= 1
        return [(probability, (place, *left), (1, -1), False), nothing]

    def observed(self):
        return np.array(self.state)
