"""Space Traders: two flights, each safe and slow, quick and risky, or at once and riskier.

After Vamplew et al. (2022), "The impact of environmental stochasticity on value-based
multiobjective reinforcement learning". Observation: the planet. Rewards: 1 for coming home with the
goods, and minus the time.
"""

import gymnasium as gym

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment

FLIGHTS = (
    ((1.0, -12.0, 0.0), (0.9, -6.0, -1.0), (0.85, 0.0, 0.0)),
    ((1.0, -10.0, 0.0), (0.9, -8.0, -7.0), (0.85, 0.0, 0.0)),
)
"""For each planet: how likely a flight succeeds, and its time if it does and if it does not."""


class SpaceTraders(ModelledEnvironment):
    steps = 20_000
    step_limit = 10
    reference_point = (-0.1, -25.0)
    demonstrations = (
        Demonstration(lambda state, time: 0, (1.0, -22.0)),
        Demonstration(lambda state, time: 2, (0.7225, 0.0)),
    )

    def __init__(self):
        self.observation_space = gym.spaces.Discrete(2)
        self.action_space = gym.spaces.Discrete(3)

    def starts(self):
        return {0: 1.0}

    def outcomes(self, state, action):
        likely, arrives, lost = FLIGHTS[state][action]
        succeeds = (likely, 1, (state, arrives), state == 1)
        return [succeeds] if likely == 1 else [succeeds, (1 - likely, state, (0, lost), True)]

    def observed(self):
        return self.state
