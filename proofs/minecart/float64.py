"""Minecart's motion in float64, bit for bit as MO-Gymnasium computes it, for many carts at once.

The search for the exact front (`front.py`) runs on this plain NumPy version, so that what
it proves holds for MO-Gymnasium itself, without a compiler in between. Ore is no part of it: mining
never moves the cart.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.envs.minecart.environment import (
    ACCELERATE,
    ACCELERATION,
    BASE_RADIUS,
    BRAKE,
    LEFT,
    MAX_SPEED,
    MIN_SPEED,
    MINE_RADIUS,
    MINES,
    RIGHT,
    ROTATION,
    START_ANGLE,
    SUB_FRAMES,
)

# As in `environment.py`, each angle that sliding can reach beyond 0..360 has its own entry.
_LARGEST_ANGLE = 1075
_ANGLES = range(-_LARGEST_ANGLE, _LARGEST_ANGLE + 1, ROTATION)
_DIRECTIONS = np.array(
    [(math.cos(angle * math.pi / 180), math.sin(angle * math.pi / 180)) for angle in _ANGLES]
)


class Carts(NamedTuple):
    """A batch of carts; `angle` is in whole degrees and not reduced to 0..360."""

    position: Float[np.ndarray, "cart 2"]
    speed: Float[np.ndarray, " cart"]
    angle: Int[np.ndarray, " cart"]
    departed: Bool[np.ndarray, " cart"]

    def chosen(self, index: Any) -> "Carts":
        """The carts that a mask, a slice or an array of indices selects."""
        return Carts(
            self.position[index], self.speed[index], self.angle[index], self.departed[index]
        )


def carts_at_start(count: int = 1) -> Carts:
    """Carts standing at the base, as after a reset."""
    return Carts(
        np.zeros((count, 2)), np.zeros(count), np.full(count, START_ANGLE), np.zeros(count, bool)
    )


def length(vectors: Float[np.ndarray, "cart 2"]) -> Float[np.ndarray, " cart"]:
    """Euclidean lengths, rounded as `sqrt(np.dot(v, v))` rounds them for each single vector."""
    # vecdot calls the same BLAS kernel as np.dot; x * x + y * y may differ in the last bit,
    # because that kernel fuses the second product with the sum.
    return np.sqrt(np.vecdot(vectors, vectors))


def advance(carts: Carts, action: int) -> tuple[Carts, Bool[np.ndarray, " cart"]]:
    """All carts after one action, and which of them have come home; those are not moved further.

    The angle and speed of a cart that is home may differ from MO-Gymnasium's, which starts the next
    sub-frame before it stops.
    """
    position, speed, angle, departed = carts
    home = np.zeros(len(speed), bool)
    for _ in range(SUB_FRAMES):
        if action in (LEFT, RIGHT):
            angle = (angle + (ROTATION if action == RIGHT else -ROTATION)) % 360
        elif action == ACCELERATE:
            speed = np.minimum(speed + ACCELERATION, MAX_SPEED)
        elif action == BRAKE:
            speed = np.zeros_like(speed)

        moving = ~home & ~(speed < MIN_SPEED)
        velocity = speed[:, None] * _DIRECTIONS[(angle + _LARGEST_ANGLE) // ROTATION]
        angle = angle + np.where(moving, _slide(position, velocity), 0)
        reached = np.where(moving[:, None], np.clip(position + velocity, 0.0, 1.0), position)
        speed = np.where(moving, length(position - reached), speed)
        position = reached

        in_base = length(position) < BASE_RADIUS
        home |= in_base & departed
        departed = departed | ~in_base
    return Carts(position, speed, angle, departed), home


def _slide(
    position: Float[np.ndarray, "cart 2"], velocity: Float[np.ndarray, "cart 2"]
) -> Int[np.ndarray, " cart"]:
    """Degrees by which carts that push against a wall turn along it."""
    at_wall = (position == 0) | (position == 1)
    pushing = ((position == 1) & (velocity > 0)) | ((position == 0) & (velocity < 0))
    along = np.abs(velocity[:, ::-1]) > MIN_SPEED  # the other axis' motion, along this axis' wall
    turns = pushing & along & ~at_wall[:, ::-1]
    # Towards the direction of motion along the wall; the two axes have opposite handedness.
    sign = np.where((velocity[:, 0] > 0) == (velocity[:, 1] > 0), ROTATION, -ROTATION)
    return sign * (turns[:, 0].astype(np.int64) - turns[:, 1])


def can_mine(carts: Carts, mine: int) -> Bool[np.ndarray, " cart"]:
    """Whether a mining action now takes ore from that mine."""
    near = length(carts.position - np.array(MINES[mine])) <= MINE_RADIUS
    return near & (carts.speed < MIN_SPEED)
