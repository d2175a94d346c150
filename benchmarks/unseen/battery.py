"""Battery: buy and sell at random prices; five real numbers, one of them mere noise.

Observation: charge, price (blurred), hour, whether the sun shines, noise. Actions: sell 2, sell 1,
wait, buy 1, buy 2. Rewards: profit, and minus the wear, which grows with the square of the amount.
Random starts; ends after 40 hours.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment

MOST, AMOUNTS = 8, (-2, -1, 0, 1, 2)
PRICES = (1.0, 2.0, 3.0, 5.0, 8.0)
"""The level of the price goes up or down by one with probability 0.3 each."""


class Battery(ModelledEnvironment):
    steps = 60_000
    step_limit = 40
    reference_point = (-10.0, -60.0)
    num_weights = 100
    demonstrations = (Demonstration(lambda state, time: 2, (0.0, 0.0)),)

    def __init__(self):
        self.observation_space = gym.spaces.Box(-10, 10, (5,), np.float32)
        self.action_space = gym.spaces.Discrete(5)

    def starts(self):
        return {(charge, level, 0): 1 / 15 for charge in (0, 2, 4) for level in range(5)}

    def outcomes(self, state, action):
        charge, level, sunny = state
        amount = min(max(AMOUNTS[action], -charge), MOST - charge)
        # Where the sun shines, the first unit that is bought costs nothing.
        paid = max(amount - sunny, 0) if amount > 0 else amount
        reward = (-PRICES[level] * paid - 0.5 * (amount != 0), -(amount**2))
        possible = []
        for move, probability in ((-1, 0.3), (0, 0.4), (1, 0.3)):
            after = min(max(level + move, 0), len(PRICES) - 1)
            for sun, likely in ((0, 0.75), (1, 0.25)):
                possible.append(
                    (probability * likely, (charge + amount, after, sun), reward, False)
                )
        return possible

    def observed(self):
        charge, level, sunny = self.state
        blur, noise = self.np_random.uniform(-0.4, 0.4), self.np_random.normal()
        numbers = (charge / MOST, level + blur, self.time / 40, sunny, np.clip(noise, -9, 9))
        return np.array(numbers, np.float32)
