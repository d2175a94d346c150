"""A coarsened Minecart: whatever the real cart can do, the coarse one can do as cheaply.

The coarse cart knows only its cell of a grid, its heading (36 of them) and its class of speed. It
moves to every cell that the real one could reach from some position in the cell at some speed of
the class.

Rounding: a cart belongs to a class, and to a cell, when it is within SLACK of it. A trip's rounding
errors add up to less than 1e-12, so a real cart never leaves the company of its coarse ones.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from pcn.envs.minecart.environment import (
    ACCELERATE,
    ACCELERATION,
    BRAKE,
    LEFT,
    MIN_SPEED,
    MINE,
    NOTHING,
    RIGHT,
    ROTATION,
    START_ANGLE,
    SUB_FRAMES,
)

UNIT = 0.02
"""Fuel is counted in what one step costs without accelerating or mining."""
UNITS = {LEFT: 1, RIGHT: 1, NOTHING: 1, ACCELERATE: 6, BRAKE: 1, MINE: 11}
"""Fuel of each action."""
NUM_HEADINGS = 36
CELLS = 100  # along each axis
SLACK = 1e-6  # far above rounding errors, far below a cell


class SpeedClass(NamedTuple):
    """Speeds per sub-frame from `low` to `high`, both included."""

    low: float
    high: float


FULL_ACCELERATION = SUB_FRAMES * ACCELERATION
TOP = 6  # accelerations; for faster carts only the mining is counted
EXACT = [SpeedClass(k * FULL_ACCELERATION, k * FULL_ACCELERATION) for k in range(TOP + 1)]
# A wall leaves the cart with speeds between the exact ones. The slowest of them stand still.
CRAWL = SpeedClass(0.0, MIN_SPEED + SLACK)
BETWEEN = [
    SpeedClass(max(k * FULL_ACCELERATION, CRAWL.high), (k + 1) * FULL_ACCELERATION)
    for k in range(TOP)
]
CLASSES = [*EXACT, *BETWEEN, CRAWL]
STANDING, CRAWLING = 0, len(CLASSES) - 1


def speed_class(speed: np.ndarray) -> Int[np.ndarray, " cart"]:
    """The tightest class of each speed; `len(CLASSES)` for those above all classes."""
    level = np.rint(speed / FULL_ACCELERATION)
    exact = np.abs(speed - level * FULL_ACCELERATION) <= SLACK / 10
    between = TOP + 1 + np.floor(speed / FULL_ACCELERATION)
    between = np.where(speed < MIN_SPEED + SLACK, CRAWLING, between)
    chosen = np.where(exact, level, between).astype(np.int64)
    return np.where(speed > TOP * FULL_ACCELERATION + SLACK / 10, len(CLASSES), chosen)


class Move(NamedTuple):
    """One action of a coarse cart that meets no wall."""

    units: int
    start: tuple[int, int]  # speed class and heading before
    end: tuple[int, int]  # and after
    path_ranges: list[tuple[tuple[float, float], tuple[float, float]]]
    """For each sub-frame, the least and greatest displacement along x and along y."""
    path_length: float
    """The longest way that the cart can go."""


def _move(index: int, heading: int, action: int) -> Move:
    speeds = np.array(CLASSES[index])
    now, displacement, path_ranges, path_length = heading, np.zeros((2, 2)), [], 0.0
    for _ in range(SUB_FRAMES):
        now += {LEFT: -1, RIGHT: 1}.get(action, 0)
        speeds = speeds + (ACCELERATION if action == ACCELERATE else 0.0)
        displacement = displacement + np.outer(speeds, _direction(now))
        (x_low, y_low), (x_high, y_high) = displacement.min(axis=0), displacement.max(axis=0)
        path_ranges.append(((x_low, x_high), (y_low, y_high)))
        path_length += speeds[1]
    after = _faster(index) if action == ACCELERATE else index
    return Move(
        UNITS[action], (index, heading), (after, now % NUM_HEADINGS), path_ranges, path_length
    )


def _faster(index: int) -> int:
    """The class after accelerating."""
    return TOP + 2 if index == CRAWLING else index + 1  # crawling: from 0.030 to 0.031


FASTEST = (TOP, TOP + len(BETWEEN))
_FREE_ACTIONS = [
    (index, action)
    for index in range(len(CLASSES))
    for action in (LEFT, RIGHT, NOTHING, ACCELERATE)
    if not (action == ACCELERATE and index in FASTEST)
]


@cache
def moves() -> list[Move]:
    """All that a coarse cart can do without meeting a wall; braking needs no more than units."""
    return [
        _move(index, heading, action)
        for index, action in _FREE_ACTIONS
        for heading in range(NUM_HEADINGS)
    ]


class WallMove(NamedTuple):
    """One action of a coarse cart that touches a wall, or the two walls of a corner, on its way."""

    units: int
    start: tuple[int, int]
    end_classes: list[int]
    end_headings: list[int]
    before: tuple[slice, slice]  # the cells from which the cart can touch those walls
    after: tuple[slice, slice]  # the cells where it can then be, but for its way along the wall
    along: (
        tuple[int, float, float] | None
    )  # axis and range of the way along the wall; None in a corner


Wall = tuple[int, int]  # axis of its normal, and -1 or 1: the side it is on
_WALLS: list[Wall] = [(0, -1), (0, 1), (1, -1), (1, 1)]
_CORNERS = [(x, y) for x in _WALLS[:2] for y in _WALLS[2:]]


def _wall_move(index: int, heading: int, action: int, walls: tuple[Wall, ...]) -> WallMove | None:
    """What can happen at these walls; None if the action cannot touch all of them."""
    slow, fast = CLASSES[index]
    free, headings = heading, {heading}  # without having touched a wall, and with
    displacement = np.zeros((2, 2))  # (least, greatest), (x, y)
    displacements = []
    towards, away = np.zeros(2), np.zeros(2)
    for frame in range(SUB_FRAMES):
        turn = {LEFT: -1, RIGHT: 1}.get(action, 0)
        free, headings = free + turn, {now + turn for now in headings}
        if action == ACCELERATE:
            slow, fast = slow + ACCELERATION, fast + ACCELERATION
        directions = np.array([_direction(now) for now in headings])
        speeds = np.array([slow if slow > MIN_SPEED else 0.0, fast])
        steps = (speeds[:, None, None] * directions).reshape(-1, 2)
        displacement = displacement + np.stack([steps.min(axis=0), steps.max(axis=0)])
        displacements.append(displacement)
        touchable = []
        for axis, side in walls:
            if (directions[:, axis] * side).max() > 0:
                touchable.append((axis, side))
                slow *= np.abs(directions[:, 1 - axis]).min()  # what is left along the wall
            # Only the first wall is reached on the straight way; a second one also by sliding.
            reaching = [_direction(free)] if len(walls) == 1 else directions
            towards[axis] += fast * max(0.0, max(direction[axis] * side for direction in reaching))
            if frame:  # the earliest touch is at the end of the first sub-frame
                away[axis] += fast * max(0.0, (-directions[:, axis] * side).max())
        if len(touchable) == 2:
            slow = 0.0
        headings |= {now + _slide(now, wall) for now in headings for wall in touchable}
    if not all(towards[axis] for axis, _ in walls):
        return None
    exact = index < len(EXACT)
    classes = [
        k
        for k, (low, high) in enumerate(CLASSES)
        if slow <= high + SLACK
        and (low < fast - SLACK or (exact and high == low and low < fast + SLACK))
    ]
    before, after = [slice(0, CELLS), slice(0, CELLS)], [slice(0, CELLS), slice(0, CELLS)]
    for axis, side in walls:
        for cells, distance in ((before, towards[axis]), (after, away[axis])):
            near = min(int((distance + SLACK) * CELLS) + 1, CELLS)
            cells[axis] = slice(0, near) if side < 0 else slice(CELLS - near, CELLS)
    axis = 1 - walls[0][0]
    # Over all sub-frames, because the episode may end at the base before the last one.
    along_least = min(least[axis] for least, _ in displacements)
    along_greatest = max(greatest[axis] for _, greatest in displacements)
    return WallMove(
        UNITS[action],
        (index, heading),
        classes,
        sorted({now % NUM_HEADINGS for now in headings}),
        (before[0], before[1]),
        (after[0], after[1]),
        (axis, along_least, along_greatest) if len(walls) == 1 else None,
    )


@cache
def wall_moves() -> list[WallMove]:
    """All that a coarse cart can do at a wall or in a corner."""
    moves = [
        _wall_move(index, heading, action, walls)
        for index, action in _FREE_ACTIONS
        for heading in range(NUM_HEADINGS)
        for walls in [*((wall,) for wall in _WALLS), *_CORNERS]
    ]
    return [move for move in moves if move is not None]


def _direction(heading: int) -> Float[np.ndarray, "2"]:
    angle = np.radians(heading * ROTATION + START_ANGLE % ROTATION)
    return np.array([np.cos(angle), np.sin(angle)])


def _slide(heading: int, wall: Wall) -> int:
    """Headings by which a cart turns along a wall that it pushes against; 0 without a push."""
    direction = _direction(heading)
    axis, side = wall
    if direction[axis] * side <= 0:
        return 0
    towards = 1 if direction[1 - axis] * side > 0 else -1
    return towards if axis == 0 else -towards
