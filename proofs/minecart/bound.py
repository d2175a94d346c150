"""Lower bounds on the fuel that the rest of a Minecart trip needs: those of the coarse cart.

The coarse cart can do whatever the real one can, as cheaply. Its cheapest trip, found by relaxing
over all of its moves, therefore never costs more than the real one.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from pcn.envs.minecart.environment import (
    ACCELERATE,
    BASE_RADIUS,
    BRAKE,
    MINE,
    MINE_RADIUS,
    MINES,
    ROTATION,
)
from proofs.minecart.coarse import (
    CELLS,
    CLASSES,
    CRAWLING,
    FASTEST,
    NUM_HEADINGS,
    SLACK,
    STANDING,
    UNITS,
    WallMove,
    moves,
    speed_class,
    wall_moves,
)
from proofs.minecart.float64 import Carts

UNREACHABLE = 255

Values = UInt8[np.ndarray, "speed_class heading cells cells"]


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
    for move in moves():
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


def _relaxed(values: Values, too_fast: int) -> Values:
    """Lower `values` until no action of any coarse cart lowers them further."""
    values[list(FASTEST)] = np.minimum(values[list(FASTEST)], too_fast + UNITS[ACCELERATE])
    at_last_wall_pass = np.full_like(values, UNREACHABLE)
    while True:
        before = values.copy()
        np.minimum(values, _added(values[STANDING], UNITS[BRAKE]), out=values)
        for move in moves():
            reached = _least_reached(values[move.end], *move.path_ranges[-1])
            np.minimum(values[move.start], _added(reached, move.units), out=values[move.start])
        changed = (values != at_last_wall_pass).any(axis=(2, 3))
        at_last_wall_pass = values.copy()
        for wall_move in wall_moves():
            if changed[np.ix_(wall_move.end_classes, wall_move.end_headings)].any():
                _relax_at_wall(values, wall_move)
        if np.array_equal(values, before):
            return values


def _relax_at_wall(values: Values, move: WallMove) -> None:
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
