"""Kiln: orders at random, and actions that masks forbid; noisy real numbers, 2 objectives.

Observation: heat, pots in stock, waiting orders, and a noise. Actions: wait, heat, bake (only when
hot and with room in the stock), deliver (only with stock and orders). Rewards: 1 for each pot that
is delivered, and minus the fuel. The kiln cools by one in each step; cold nights are drawn.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment

HOTTEST, ROOM, WAITING = 5, 4, 4
ORDERS = ((0.6, 0), (0.3, 1), (0.1, 2))
COOLS = ((0.7, 1), (0.3, 2))


class Kiln(ModelledEnvironment):
    steps = 60_000
    step_limit = 50
    reference_point = (-1.0, -30.0)
    num_weights = 80
    demonstrations = (Demonstration(lambda state, time: 0, (0.0, 0.0)),)

    def __init__(self):
        self.observation_space = gym.spaces.Box(-4, 4, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def starts(self):
        return {(0, 0, 2): 1.0}

    def actions(self, state):
        return np.flatnonzero(self.mask(state)).tolist()

    def mask(self, state):
        heat, stock, orders = state
        return np.array([True, True, heat >= 3 and stock < ROOM, stock > 0 and orders > 0])

    def outcomes(self, state, action):
        heat, stock, orders = state
        gained, fuel = 0.0, 0.0
        if action == 1:
            heat, fuel = heat + 3, -1.0
        elif action == 2:
            stock = min(stock + 2, ROOM)
        elif action == 3:
            gained = float(min(stock, orders, 2))
            stock, orders = stock - int(gained), orders - int(gained)
        return [
            (p * q, (min(max(heat - c, 0), HOTTEST), stock, min(orders + new, WAITING)),
             (gained, fuel), False)
            for p, new in ORDERS
            for q, c in COOLS
        ]  # fmt: skip

    def observed(self):
        heat, stock, orders = self.state
        noise = np.clip(self.np_random.normal(), -4, 4)
        blurred = heat / HOTTEST + 0.01 * self.np_random.uniform()
        return np.array([blurred, stock / ROOM, orders / WAITING, noise], np.float32)

    def info(self):
        return {"action_mask": self.mask(self.state)}
