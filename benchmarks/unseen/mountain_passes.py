"""Mountain passes: short ways with an accident of 2 %, and safe detours; tabular.

Observation: the number of the valley, and the steps of a detour that are left. Actions: the pass
(an accident in 2 % of all cases ends the journey), the road (twice as long, 0.5 %), the detour
(three times as long, safe), and to sell and go home. Rewards: the money for the goods, which are
worth more in each later valley, -1 for each step, and -1 for an accident.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment

VALLEYS = 7
DANGERS = (0.02, 0.005, 0.0)
WORTH = (0.0, 1.0, 2.5, 4.5, 7.0, 10.0, 14.0)


class MountainPasses(ModelledEnvironment):
    steps = 60_000
    step_limit = 40
    reference_point = (-1.0, -25.0, -0.2)
    demonstrations = (
        Demonstration(lambda state, time: 3 if state[0] == VALLEYS - 1 else 2, (14.0, -19.0, 0.0)),
        Demonstration(
            lambda state, time: 3 if state[0] == 2 else 0,
            (2.5 * 0.98**2, -(1 + 0.98 + 0.98**2), -(1 - 0.98**2)),
        ),
        Demonstration(lambda state, time: 3, (0.0, -1.0, 0.0)),
    )

    def __init__(self):
        self.observation_space = gym.spaces.MultiDiscrete([VALLEYS, 3])
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(0, 0): 1.0}

    def outcomes(self, state, action):
        valley, left = state
        if left:  # on the way: nothing to decide
            following = (valley, left - 1) if left > 1 else (valley + 1, 0)
            return [(1.0, following, (0, -1, 0), False)]
        if action == 3:
            return [(1.0, state, (WORTH[valley], -1, 0), True)]
        if valley == VALLEYS - 1:
            return [(1.0, state, (0, -1, 0), False)]
        danger = DANGERS[action]
        following = (valley + 1, 0) if action == 0 else (valley, action)
        safely = (1 - danger, following, (0, -1, 0), False)
        return [safely, (danger, state, (0, -1, -1), True)] if danger else [safely]

    def observed(self):
        return np.array(self.state)
