"""Lower bounds on the fuel that the rest of a Minecart trip needs, from a coarsened Minecart.

The coarse cart knows only its cell of a grid, its heading (36 of them) and its class of speed.
Whatever the real cart can do from some position in the cell at some speed of the class, the coarse
cart can do: it moves to every cell that the real one could reach. Its cheapest trip therefore never
costs more than the real one.

Rounding: a cart belongs to a class, and to a cell, when it is within SLACK of it. A trip's rounding
errors add up to less than 1e-12, so a real cart never leaves the company of its coarse ones.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from pcn.envs.minecart.environment import (
    ACCELERATE,
    ACCELERATION,
    BASE_RADIUS,
    BRAKE,
    LEFT,
    MIN_SPEED,
    MINE,
    MINE_RADIUS,
    MINES,
    NOTHING,
    RIGHT,
    ROTATION,
    START_ANGLE,
    SUB_FRAMES,
)
from pcn.envs.minecart.float64 import Carts

UNIT = 0.02
"""Fuel is counted in what one step costs without accelerating or mining."""
UNITS = {LEFT: 1, RIGHT: 1, NOTHING: 1, ACCELERATE: 6, BRAKE: 1, MINE: 11}
"""Fuel of each action."""
NUM_HEADINGS = 36
CELLS = 100  # along each axis
SLACK = 1e-6  # far above rounding errors, far below a cell
UNREACHABLE = 255

Values = UInt8[np.ndarray, "speed_class heading cells cells"]


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


class Bound(NamedTuple):
    """Least coarse fuel to the end of the trip, for every coarse cart."""

    values: Values
    too_fast: int
    """For carts above all speed classes."""

    def __call__(self, carts: Carts) -> Int[np.ndarray, " cart"]:
        """Fuel units that each cart still needs at least."""
        cell = np.minimum((carts.position * CELLS).astype(np.int64), CELLS - 1)
        heading = (carts.angle // ROTATION) % NUM_HEADINGS
        index = speed_class(carts.speed)
        known = index < len(CLASSES)
        values = self.values[np.where(known, index, 0), heading, cell[:, 0], cell[:, 1]]
        return np.where(known, values, self.too_fast).astype(np.int64)


def to_base() -> Bound:
    """Bound for driving home."""
    base = _touching(np.zeros(2), BASE_RADIUS)
    values = np.full((len(CLASSES), NUM_HEADINGS, CELLS, CELLS), UNREACHABLE, np.uint8)
    reached = np.where(base, 0, UNREACHABLE).astype(np.uint8)
    for move in _moves():
        for x_range, y_range in move.path_ranges:  # the episode ends at any sub-frame
            arriving = _added(_least_reached(reached, x_range, y_range), move.units)
            np.minimum(values[move.start], arriving, out=values[move.start])
    values[:, :, base] = 0
    return Bound(_relaxed(values, too_fast=0), too_fast=0)


def to_mine(mine: int, afterwards: Bound) -> Bound:
    """Bound for driving to a mine, mining there once, and doing what `afterwards` bounds."""
    at_mine = _touching(np.array(MINES[mine]), MINE_RADIUS)
    values = np.full_like(afterwards.values, UNREACHABLE)
    for index in (STANDING, CRAWLING):
        mined = _added(afterwards.values[index], UNITS[MINE])
        values[index] = np.where(at_mine, mined, UNREACHABLE)
    too_fast = afterwards.too_fast + UNITS[MINE]
    return Bound(_relaxed(values, too_fast), too_fast)


def _touching(centre: Float[np.ndarray, "2"], radius: float) -> Bool[np.ndarray, "cells cells"]:
    """Cells with a point in the disc."""
    edges = np.arange(CELLS) / CELLS
    away = [np.maximum(np.maximum(edges - c, c - (edges + 1 / CELLS)), 0.0) for c in centre]
    return np.hypot(away[0][:, None], away[1][None, :]) <= radius + SLACK


class _Move(NamedTuple):
    """One action of a coarse cart that meets no wall."""

    units: int
    start: tuple[int, int]  # speed class and heading before
    end: tuple[int, int]  # and after
    path_ranges: list[tuple[tuple[float, float], tuple[float, float]]]
    """For each sub-frame, the least and greatest displacement along x and along y."""
    path_length: float
    """The longest way that the cart can go."""


def _move(index: int, heading: int, action: int) -> _Move:
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
    return _Move(
        UNITS[action], (index, heading), (after, now % NUM_HEADINGS), path_ranges, path_length
    )


def _faster(index: int) -> int:
    """The class after accelerating."""
    return TOP + 2 if index == CRAWLING else index + 1  # crawling: from 0.030 to 0.031


_FASTEST = (TOP, TOP + len(BETWEEN))
_FREE_ACTIONS = [
    (index, action)
    for index in range(len(CLASSES))
    for action in (LEFT, RIGHT, NOTHING, ACCELERATE)
    if not (action == ACCELERATE and index in _FASTEST)
]


@cache
def _moves() -> list[_Move]:
    return [
        _move(index, heading, action)
        for index, action in _FREE_ACTIONS
        for heading in range(NUM_HEADINGS)
    ]


class _WallMove(NamedTuple):
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


def _wall_move(index: int, heading: int, action: int, walls: tuple[Wall, ...]) -> _WallMove | None:
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
    return _WallMove(
        UNITS[action],
        (index, heading),
        classes,
        sorted({now % NUM_HEADINGS for now in headings}),
        (before[0], before[1]),
        (after[0], after[1]),
        (axis, along_least, along_greatest) if len(walls) == 1 else None,
    )


@cache
def _wall_moves() -> list[_WallMove]:
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


def _relaxed(values: Values, too_fast: int) -> Values:
    """Lower `values` until no action of any coarse cart lowers them further."""
    values[list(_FASTEST)] = np.minimum(values[list(_FASTEST)], too_fast + UNITS[ACCELERATE])
    at_last_wall_pass = np.full_like(values, UNREACHABLE)
    while True:
        before = values.copy()
        np.minimum(values, _added(values[STANDING], UNITS[BRAKE]), out=values)
        for move in _moves():
            reached = _least_reached(values[move.end], *move.path_ranges[-1])
            np.minimum(values[move.start], _added(reached, move.units), out=values[move.start])
        changed = (values != at_last_wall_pass).any(axis=(2, 3))
        at_last_wall_pass = values.copy()
        for wall_move in _wall_moves():
            if changed[np.ix_(wall_move.end_classes, wall_move.end_headings)].any():
                _relax_at_wall(values, wall_move)
        if np.array_equal(values, before):
            return values


def _relax_at_wall(values: Values, move: _WallMove) -> None:
    ends = np.ix_(move.end_classes, move.end_headings)
    possible = values[:, :, move.after[0], move.after[1]][ends].min(axis=(0, 1))
    if move.along is None:
        reached = possible.min(keepdims=True)
    else:
        axis, low, high = move.along
        least = possible.min(axis=1 - axis)
        reached = np.expand_dims(_windowed_least(least, 0, *_window(low, high)), 1 - axis)
    target = values[move.start][move.before]
    np.minimum(target, _added(reached, move.units), out=target)


def _window(low: float, high: float) -> tuple[int, int]:
    """First and last cell, counted from its own, that displacements in the range reach."""
    return int(np.floor((low - SLACK) * CELLS)), int(np.floor((high + SLACK) * CELLS)) + 1


def _least_reached(
    values: UInt8[np.ndarray, "*batch cells cells"],
    x_range: tuple[float, float],
    y_range: tuple[float, float],
) -> UInt8[np.ndarray, "*batch cells cells"]:
    """For each cell, the least value among those that displacements in the ranges reach."""
    for axis, (low, high) in ((-2, x_range), (-1, y_range)):
        values = _windowed_least(values, axis, *_window(low, high))
    return values


def _windowed_least(values: np.ndarray, axis: int, first: int, last: int) -> np.ndarray:
    """`result[i] = min(values[i + first .. i + last])`; beyond the grid is unreachable."""
    widths = [(0, 0)] * values.ndim
    widths[axis] = (max(-first, 0), max(last, 0))
    padded = np.moveaxis(np.pad(values, widths, constant_values=UNREACHABLE), axis, 0)
    padded = padded[max(first, 0) :]
    size, width = last - first + 1, 1
    while width < size:  # windows of doubling width
        step = min(width, size - width)
        padded = np.minimum(padded[:-step], padded[step:])
        width += step
    return np.moveaxis(padded[:CELLS], 0, axis)


def _added(values: np.ndarray, units: int) -> np.ndarray:
    """Sum that stays at UNREACHABLE."""
    return np.minimum(values, UNREACHABLE - units) + np.uint8(units)
