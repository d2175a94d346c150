"""Inventory: two goods with random demand; several choices with masks, seen as a dictionary.

Observation: the stock of both goods, and the day. Actions: how much of each good to order; masks
forbid what has no room. Rewards: profit, and minus the demand that was not met. Ends after 20 days.
"""

from itertools import product

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import ModelledEnvironment

ROOM, MOST = 6, 3
DEMANDS = (((0, 0.3), (1, 0.4), (3, 0.3)), ((0, 0.6), (2, 0.4)))
PRICES, COSTS, DELIVERY, STORAGE = (2.0, 4.0), (1.0, 2.5), 0.8, 0.3


class Inventory(ModelledEnvironment):
    steps = 60_000
    step_limit = 20
    reference_point = (15.0, -8.0)
    num_weights = 100
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.Dict(
            stock=gym.spaces.MultiDiscrete([ROOM + 1] * 2), day=gym.spaces.Box(0, 1, (1,))
        )
        self.action_space = gym.spaces.MultiDiscrete([MOST + 1] * 2)

    def starts(self):
        return {(2, 2): 1.0}

    def actions(self, state):
        room = [min(MOST, ROOM - stock) for stock in state]
        return [4 * one + other for one in range(room[0] + 1) for other in range(room[1] + 1)]

    def number(self, action):
        return 4 * int(action[0]) + int(action[1])

    def outcomes(self, state, action):
        orders, possible = divmod(action, 4), []
        ordering = sum(cost * n for cost, n in zip(COSTS, orders, strict=True))
        for wishes in product(*DEMANDS):
            profit, unmet, left = -ordering - DELIVERY * (action > 0), 0, []
            for stock, n, price, (wish, _) in zip(state, orders, PRICES, wishes, strict=True):
                sold = min(stock + n, wish)
                profit += price * sold
                unmet += wish - sold
                left.append(stock + n - sold)
            profit -= STORAGE * sum(left)
            possible.append((wishes[0][1] * wishes[1][1], tuple(left), (profit, -unmet), False))
        return possible

    def observed(self):
        return {"stock": np.array(self.state), "day": np.array([self.time / 20], np.float32)}

    def info(self):
        masks = (np.arange(MOST + 1) <= ROOM - stock for stock in self.state)
        return {"action_mask": tuple(mask.astype(np.int8) for mask in masks)}
