"""The exact front of Four Room, by a search over the orders in which shapes are collected.

Why this is all. A shape pays once, when it is first entered, and the goal pays at the end: an
episode's return is fixed by when it enters which shape for the first time, and when the goal. An
episode that collects certain shapes in a certain order enters each no earlier than one that takes
shortest ways from shape to shape; and who meets another shape on such a way gains it earlier still,
which is an order of its own. So the front is that of all orders of all subsets of the twelve shapes
with shortest ways between them, and then to the goal. (An episode that does not end at the goal
gains by going there: with shortest ways that is always possible within the step limit, see below.)

How. A label is an order so far: the set collected, the last shape, the number of steps, the return.
Of two labels with the same set and the same last shape, one that took no more steps and has no less
return in every objective leads to at least as much, whatever follows: the other is dropped.
"""

from collections import deque
from typing import NamedTuple

import moocore
import numpy as np
from jaxtyping import Float, Int

from pcn.envs.laboratory.four_room import GOAL, MAZE, MOVES, SHAPES, SIZE, START

STEP_LIMIT = 200
Cell = tuple[int, int]


def ways_from(start: Cell) -> dict[Cell, list[int]]:
    """The actions of a shortest way from a cell to every other; the goal is never passed."""
    ways: dict[Cell, list[int]] = {start: []}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        if cell == GOAL:
            continue
        for action, (down, right) in enumerate(MOVES):
            target = (cell[0] + down, cell[1] + right)
            inside = 0 <= target[0] < SIZE and 0 <= target[1] < SIZE
            if inside and MAZE[target[0]][target[1]] != "#" and target not in ways:
                ways[target] = [*ways[cell], action]
                queue.append(target)
    return ways


class Labels(NamedTuple):
    """Orders with the same set of shapes and the same last one."""

    steps: Int[np.ndarray, " label"]
    returns: Float[np.ndarray, "label objective"]
    came_from: Int[np.ndarray, "label 2"]
    """The shape before and the label there; (-1, -1) for the first shape."""

    def kept(self, discount: float) -> "Labels":
        """Those that no other makes superfluous."""
        values = np.column_stack([discount ** self.steps.astype(np.float64), self.returns])
        mask = moocore.is_nondominated(values.round(12), maximise=True, keep_weakly=False)
        return Labels(self.steps[mask], self.returns[mask], self.came_from[mask])


class Tour(NamedTuple):
    """One point of the front and the actions that reach it."""

    returns: Float[np.ndarray, " objective"]
    actions: list[int]


def tours(discount: float) -> list[Tour]:
    """A tour for every point of the front, in lexicographic order of the returns."""
    places = [*SHAPES, START]
    ways = {place: ways_from(place) for place in places}
    gains = np.array([[MAZE[row][column] == kind for kind in "123"] for row, column in SHAPES])
    tables: list[dict[tuple[int, int], Labels]] = []
    table = {
        (1 << shape, shape): _first(len(ways[START][place]), gains[shape], discount)
        for shape, place in enumerate(SHAPES)
    }
    while table:
        tables.append(table)
        table = _extended(table, ways, gains, discount)
    ends: list[tuple[Float[np.ndarray, " objective"], list[int]]] = [
        (np.full(3, discount ** (len(ways[START][GOAL]) - 1)), ways[START][GOAL])
    ]
    for size, one in enumerate(tables):
        for (chosen, last), labels in one.items():
            steps = labels.steps + len(ways[SHAPES[last]][GOAL])
            # Nothing that could matter is cut off: the longest of all tours is short enough.
            assert steps.max() <= STEP_LIMIT
            returns = labels.returns + discount ** (steps[:, None] - 1.0)
            ends += [(point, [size, chosen, last, number]) for number, point in enumerate(returns)]
    points = np.array([point for point, _ in ends])
    mask = moocore.is_nondominated(points.round(12), maximise=True, keep_weakly=False)
    found = [
        Tour(
            points[index], ends[index][1] if index == 0 else _actions(ends[index][1], tables, ways)
        )
        for index in np.flatnonzero(mask)
    ]
    return sorted(found, key=lambda tour: tour.returns.tolist())


def _first(steps: int, gain: np.ndarray, discount: float) -> Labels:
    returns = discount ** (steps - 1.0) * gain[None]
    return Labels(np.array([steps]), returns, np.array([[-1, -1]]))


def _extended(
    table: dict[tuple[int, int], Labels],
    ways: dict[Cell, dict[Cell, list[int]]],
    gains: np.ndarray,
    discount: float,
) -> dict[tuple[int, int], Labels]:
    """All labels with one shape more."""
    parts: dict[tuple[int, int], list[Labels]] = {}
    for (chosen, last), labels in table.items():
        for shape, place in enumerate(SHAPES):
            if chosen >> shape & 1:
                continue
            steps = labels.steps + len(ways[SHAPES[last]][place])
            returns = labels.returns + discount ** (steps[:, None] - 1.0) * gains[shape][None]
            before = np.column_stack([np.full(len(steps), last), np.arange(len(steps))])
            parts.setdefault((chosen | 1 << shape, shape), []).append(
                Labels(steps, returns, before)
            )
    return {
        key: Labels(*(np.concatenate(arrays) for arrays in zip(*labels, strict=True))).kept(
            discount
        )
        for key, labels in parts.items()
    }


def _actions(
    end: list[int],
    tables: list[dict[tuple[int, int], Labels]],
    ways: dict[Cell, dict[Cell, list[int]]],
) -> list[int]:
    """Follow a label back to the start."""
    size, chosen, last, number = end
    actions = list(ways[SHAPES[last]][GOAL])
    while size > 0:
        before, number_before = tables[size][chosen, last].came_from[number].tolist()
        actions = ways[SHAPES[before]][SHAPES[last]] + actions
        size, chosen, last, number = size - 1, chosen & ~(1 << last), before, number_before
    return ways[START][SHAPES[last]] + actions
