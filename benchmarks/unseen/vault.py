"""Vault: a key, a door and an alarm, seen as a small picture in a dictionary; deterministic.

Observation: a picture of the rooms, 7 by 7 bytes, and whether one holds the key. Actions: the four
directions, and to use what is there: take the key, break the door, or go home from the entrance.
Rewards: gold, jewels, -1 for each step, -1 for each alarm. The door opens silently with the key;
breaking it raises an alarm, and so does the light in front of the jewels.
"""

import gymnasium as gym
import numpy as np

from benchmarks.unseen.modelled import Demonstration, ModelledEnvironment
from pcn.pareto import unique_front

SIZE, WALL = 7, 4
ENTRANCE, KEY, COIN, DOOR = (3, 0), (6, 2), (0, 2), (3, WALL)
GOLD, JEWELS, LIGHT = (0, 6), (6, 6), (5, 6)
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
HAS_KEY, OPEN, HAS_COIN, HAS_GOLD, HAS_JEWELS = 1, 2, 4, 8, 16


class Vault(ModelledEnvironment):
    steps = 60_000
    step_limit = 45
    reference_point = (-1.0, -1.0, -46.0, -5.0)
    demonstrations = (Demonstration(lambda state, time: 4, (0.0, 0.0, -1.0, 0.0)),)

    def __init__(self):
        self.observation_space = gym.spaces.Dict(
            picture=gym.spaces.Box(0, 255, (SIZE, SIZE, 1), np.uint8),
            key=gym.spaces.Discrete(2),
        )
        self.action_space = gym.spaces.Discrete(5)

    def starts(self):
        return {(*ENTRANCE, 0): 1.0}

    def outcomes(self, state, action):
        row, column, has = state
        gold = jewels = alarms = 0.0
        if action == 4:
            if (row, column) == ENTRANCE:
                return [(1.0, state, (0.0, 0.0, -1, 0.0), True)]
            if (row, column) == KEY:
                has |= HAS_KEY
            elif (row, column) == (DOOR[0], DOOR[1] - 1) and not has & OPEN:
                has, alarms = has | OPEN, 0.0 if has & HAS_KEY else -1.0
        else:
            down, right = MOVES[action]
            cell = (min(max(row + down, 0), SIZE - 1), min(max(column + right, 0), SIZE - 1))
            if cell[1] != WALL or (cell == DOOR and has & OPEN):
                alarms = -float(cell == LIGHT != (row, column))
                row, column = cell
        if (row, column) == COIN and not has & HAS_COIN:
            has, gold = has | HAS_COIN, 1.0
        if (row, column) == GOLD and not has & HAS_GOLD:
            has, gold = has | HAS_GOLD, 5.0
        if (row, column) == JEWELS and not has & HAS_JEWELS:
            has, jewels = has | HAS_JEWELS, 3.0
        return [(1.0, (row, column, has), (gold, jewels, -1, alarms), False)]

    def observed(self):
        row, column, has = self.state
        picture = np.zeros((SIZE, SIZE, 1), np.uint8)
        picture[:, WALL] = 80
        picture[DOOR] = 20 if has & OPEN else 120
        for place, bit in ((KEY, HAS_KEY), (COIN, HAS_COIN), (GOLD, HAS_GOLD), (JEWELS, 16)):
            picture[place] = 0 if has & bit else 160
        picture[row, column] = 255
        return {"picture": picture, "key": has & HAS_KEY}

    @classmethod
    def true_front(cls):
        """The shortest ways home with each loot and up to three alarms, by breadth-first search."""
        rules, points = cls(), []
        seen = here = {(*ENTRANCE, 0, 0)}
        for time in range(1, cls.step_limit + 1):
            after = set()
            for row, column, has, alarms in here:
                for action in rules.actions(None):
                    ((_, state, reward, ended),) = rules.outcomes((row, column, has), action)
                    if ended:
                        gold = (has & HAS_COIN > 0) + 5 * (has & HAS_GOLD > 0)
                        points.append((gold, 3 * (has & HAS_JEWELS > 0), -time, -alarms))
                    elif alarms - reward[3] <= 3:
                        after.add((*state, int(alarms - reward[3])))
            here = after - seen
            seen = seen | here
        front = np.array(points, np.float64)
        return front[unique_front(front)]
