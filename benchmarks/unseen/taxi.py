"""Taxi with fuel: Gymnasium's map, tips and a tank that empties; the state is one number.

Observation: cell, passenger, destination and fuel, as one number. Actions: the four directions,
pick up, drop off, refuel. Rewards: the fare of a delivered passenger, -1 for each step, and minus
what fuel costs. The episode ends with the delivery, or with an empty tank (-10 of fare). Where the
passenger waits and wants to go is drawn.
"""

import gymnasium as gym

from benchmarks.unseen.modelled import ModelledEnvironment

SIZE, TANK = 5, 12
STANDS = ((0, 0), (0, 4), (4, 0), (4, 3))
PUMP = (2, 2)
WALLS = {((0, 1), (0, 2)), ((1, 1), (1, 2)), ((3, 0), (3, 1)), ((4, 0), (4, 1))}
WALLS |= {((3, 2), (3, 3)), ((4, 2), (4, 3))}
MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))


class Taxi(ModelledEnvironment):
    steps = 100_000
    step_limit = 60
    reference_point = (-10.1, -61.0, -13.0)
    num_weights = 80
    demonstrations = ()

    def __init__(self):
        self.observation_space = gym.spaces.Discrete(25 * 5 * 4 * (TANK + 1))
        self.action_space = gym.spaces.Discrete(7)

    def starts(self):
        pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
        return {(1, 2, a, b, 8): 1 / len(pairs) for a, b in pairs}

    def outcomes(self, state, action):
        row, column, passenger, to, fuel = state
        fare, price, over = 0.0, 0.0, False
        if action < 4:
            cell = (row + MOVES[action][0], column + MOVES[action][1])
            wall = {((row, column), cell), (cell, (row, column))} & WALLS
            if not wall and 0 <= cell[0] < SIZE and 0 <= cell[1] < SIZE:
                (row, column), fuel = cell, fuel - 1
        elif action == 4 and passenger < 4 and STANDS[passenger] == (row, column):
            passenger = 4
        elif action == 5 and passenger == 4 and STANDS[to] == (row, column):
            fare, over = 5.0 + 5.0 * (to == 3), True
        elif action == 6 and (row, column) == PUMP:
            price, fuel = -0.5 * (TANK - fuel), TANK
        if not over and fuel == 0:
            fare, over = -10.0, True
        return [(1.0, (row, column, passenger, to, fuel), (fare, -1, price), over)]

    def observed(self):
        row, column, passenger, to, fuel = self.state
        return (((row * SIZE + column) * 5 + passenger) * 4 + to) * (TANK + 1) + fuel
