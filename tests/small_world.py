"""A small deterministic world for tests of searches, with everything about it known."""

import itertools

import numpy as np

from pcn.algorithms.pcn.refinements.routing.effects import Effects
from pcn.algorithms.pcn.refinements.routing.outcomes import Outcomes

SIZE, ITEMS, GOAL = 3, ((0, 2), (2, 0)), (2, 2)
MOVES = ((0, -1), (-1, 0), (0, 1), (1, 0))
START = (0, 0, 0, 0)


def step(state, action):
    """The next state, the reward and whether the episode is over.

    A 3x3 grid with two items, each worth one in its own objective, and a goal worth .5 in both.
    Observations are row, column and which items have been collected.
    """
    row, column, *flags = state
    to = (row + MOVES[action][0], column + MOVES[action][1])
    if not (0 <= to[0] < SIZE and 0 <= to[1] < SIZE):
        return state, np.zeros(2), False
    reward = np.zeros(2)
    for number, item in enumerate(ITEMS):
        if to == item and not flags[number]:
            flags[number] = 1
            reward[number] = 1.0
    return (*to, *flags), reward + 0.5 * (to == GOAL), to == GOAL


def all_steps():
    """Every state that is not over, with every action and what follows."""
    cells = [cell for cell in itertools.product(range(SIZE), repeat=2) if cell != GOAL]
    states = [(*cell, *flags) for cell in cells for flags in itertools.product((0, 1), repeat=2)]
    return [(state, action, *step(state, action)) for state in states for action in range(4)]


def played(actions, discount):
    """The return of a list of actions, and whether it came to an end just with the last one."""
    state, total, over = START, np.zeros(2), False
    for time, action in enumerate(actions):
        assert not over
        state, reward, over = step(state, int(action))
        total = total + discount**time * reward
    return total, over


def taught(model, steps):
    """The model after it has learnt from these steps."""
    states, actions, after, rewards, over = zip(*steps, strict=True)
    outcomes = Outcomes(np.array(after, float), np.array(rewards), np.array(over))
    model.learn(np.array(states, float), np.array(actions), outcomes)
    return model


def fresh():
    """A model that knows nothing."""
    return Effects(num_parts=4, num_objectives=2, num_actions=4)
