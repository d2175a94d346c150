"""Walkroom: walk from a corner of an n-dimensional room to its uneven border."""

from functools import lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer, PRNGKeyArray, UInt8, UInt32

from pcn.envs.compiled import AbstractCompiledEnvironment, Step
from pcn.envs.drawing import Canvas
from pcn.envs.spec import EnvironmentSpec, Front, Objective
from pcn.errors import UserError
from pcn.types import AnyArray

MOST_OBJECTIVES = 10
MOST_CELLS = 2_000_000
"""Cells of one coordinate sum up to which the front is computed."""
STEP_LIMIT = 200
ROUGHNESS = 0.1
"""Standard deviation of the border, as a share of the room's side."""


def default_size(num_objectives: int) -> int:
    """The paper's rooms: 20 cells wide, 10 from six objectives on."""
    return 20 if num_objectives <= 5 else 10


class Room(NamedTuple):
    """Which room: its dimensions, its side and the seed of its border."""

    num_objectives: int
    size: int
    seed: int


def border_height(
    cell: Int[Array, " axis"], size: int, seed: int | Integer[AnyArray, ""]
) -> Int[Array, ""]:
    """The height of the border, along the last axis, above a cell of the other axes.

    The noise of a cell is made from its coordinates, so no table of all cells is needed.
    """
    key = jax.random.key(seed)
    # As many coordinates at a time as fit into the 32 bits that a key takes.
    at_once = max(1, int(31 / np.log2(size)))
    for start in range(0, len(cell), at_once):
        number = jnp.uint32(0)
        for coordinate in cell[start : start + at_once]:
            number = number * size + coordinate.astype(jnp.uint32)
        key = jax.random.fold_in(key, number)
    noise = ROUGHNESS * size * jax.random.normal(key)
    height = size - 1 - (jnp.sum(cell) + noise)
    return jnp.round(jnp.clip(height, 0, size - 1)).astype(jnp.int32)


@eqx.filter_jit
def border_heights(
    cells: Int[AnyArray, "cell axis"], size: int, seed: Integer[AnyArray, ""]
) -> Int[Array, " cell"]:
    """The heights above several cells; compiled once for all rooms of one size."""
    return jax.vmap(lambda cell: border_height(cell, size, seed))(jnp.asarray(cells))


@lru_cache(maxsize=16)
def border_front(room: Room) -> Float[np.ndarray, "point objective"] | None:
    """The non-dominated border cells, negated; None where there are too many cells to compare.

    Cells are visited by the sum of their coordinates. A cell is on the front when its height
    lies below that of every cell before it; once all cells of one sum are covered by height
    zero, so is everything beyond.
    """
    num_axes = room.num_objectives - 1
    place_values = room.size ** np.arange(num_axes, dtype=np.int64)
    known_codes, known_lowest = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    points = []
    for total in range(num_axes * (room.size - 1) + 1):
        if comb(total + num_axes - 1, num_axes - 1) > MOST_CELLS:
            return None
        cells = _cells_with_sum(num_axes, room.size, total)
        heights = _heights(cells, room)
        codes = cells @ place_values
        before = np.full(len(cells), room.size, dtype=np.int64)
        for axis in range(num_axes):
            inside = cells[:, axis] > 0
            previous = np.searchsorted(known_codes, codes[inside] - place_values[axis])
            before[inside] = np.minimum(before[inside], known_lowest[previous])
        on_front = heights < before
        points.append(np.column_stack([cells[on_front], heights[on_front]]))
        order = np.argsort(codes)
        known_codes, known_lowest = codes[order], np.minimum(heights, before)[order]
        if not known_lowest.any():
            break
    return -np.concatenate(points).astype(np.float64)


def _cells_with_sum(num_axes: int, size: int, total: int) -> Int[np.ndarray, "cell axis"]:
    """All cells inside the room whose coordinates add up to `total`."""
    # Stars and bars: each way to place the bars is one way to share out the sum.
    ways = list(combinations(range(total + num_axes - 1), num_axes - 1))
    bars = np.array(ways, dtype=np.int64).reshape(len(ways), num_axes - 1)
    ends = np.full((len(bars), 1), total + num_axes - 1)
    edges = np.concatenate([np.full((len(bars), 1), -1), bars, ends], axis=1)
    cells = np.diff(edges, axis=1) - 1
    return cells[np.all(cells < size, axis=1)].astype(np.int32)


def _heights(cells: Int[np.ndarray, "cell axis"], room: Room) -> Int[np.ndarray, " cell"]:
    """The heights above any number of cells, computed in one compiled shape."""
    chunk, seed = 4096, np.asarray(room.seed, np.uint32)
    padded = np.zeros((-(-len(cells) // chunk) * chunk, cells.shape[1]), dtype=np.int32)
    padded[: len(cells)] = cells
    parts = np.split(padded, len(padded) // chunk)
    heights = [np.asarray(border_heights(part, room.size, seed)) for part in parts]
    return np.concatenate(heights)[: len(cells)].astype(np.int64)


class WalkerState(NamedTuple):
    """Where the walker stands."""

    position: Int[Array, " axis"]


class Walkroom(AbstractCompiledEnvironment):
    """A walker in a room with one axis per objective looks for a cheap way to its border.

    The environment is the Walkroom of the PCN paper; the rooms come from our own generator.

    - Observation: `MultiDiscrete([size] * num_objectives)`, all coordinates of the walker. It
      starts in the corner where all of them are 0.
    - Actions: `Discrete(2 * num_objectives)`: action 2i goes one cell forwards along axis i,
      action 2i + 1 one cell backwards. At a wall the walker stays where it is.
    - Rewards: one objective per axis, `axis_0`, `axis_1`, and so on: -1 for every action along
      this axis, also at a wall, and 0 for all others.
    - Ends: terminated when the last coordinate reaches the border, whose height depends on the
      other coordinates; truncated after 200 steps.
    - Front: proven, the non-dominated cells of the border; unknown where there are too many cells.

    Args:
        num_objectives: 2 to 10.
        size: Cells along each axis; by default 20, or 10 from six objectives on, as in the paper.
        room_seed: Seed of the border. The same seed gives the same room.
    """

    spec: EnvironmentSpec = eqx.field(static=True)
    num_objectives: int = eqx.field(static=True)
    size: int = eqx.field(static=True)
    room_seed: UInt32[AnyArray, ""]
    """An array: all rooms of one size are the same compiled code."""

    def __init__(
        self, num_objectives: int = 2, *, size: int | None = None, room_seed: int = 0
    ) -> None:
        if not 2 <= num_objectives <= MOST_OBJECTIVES:
            raise UserError(f"walkroom has 2 to {MOST_OBJECTIVES} objectives, got {num_objectives}")
        size = default_size(num_objectives) if size is None else size
        if not 2 <= size <= 100:
            raise UserError(f"walkroom's size is 2 to 100, got {size}")
        if not 0 <= room_seed < 1 << 31:
            raise UserError(f"walkroom's room_seed is 0 to 2147483647, got {room_seed}")
        room = Room(num_objectives, size, room_seed)
        points = border_front(room)
        self.num_objectives, self.size = num_objectives, size
        self.room_seed = np.asarray(room_seed, np.uint32)
        self.spec = EnvironmentSpec(
            name=f"walkroom-{num_objectives} (size {size}, room {room_seed})",
            objectives=tuple(
                Objective(f"axis_{axis}", unit="steps", direction="minimise")
                for axis in range(num_objectives)
            ),
            observation_space=gym.spaces.MultiDiscrete([size] * num_objectives, dtype=np.int32),
            action_space=gym.spaces.Discrete(2 * num_objectives),
            step_limit=STEP_LIMIT,
            reference_point=(-float(size),) * num_objectives,
            front=None if points is None else Front(points, "proven", "all border cells compared"),
            action_names=tuple(
                f"{sign}{axis}" for axis in range(num_objectives) for sign in ("+", "-")
            ),
        )

    def reset(self, key: PRNGKeyArray) -> WalkerState:
        """Start in the corner."""
        del key
        return WalkerState(jnp.zeros(self.num_objectives, dtype=jnp.int32))

    def step(self, state: WalkerState, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """Actions 2i and 2i + 1 go forwards and backwards along axis i; walls cost as well."""
        del key
        along = jnp.arange(self.num_objectives) == action // 2
        move = jnp.where(along, 1 - 2 * (action % 2), 0)
        position = jnp.clip(state.position + move, 0, self.size - 1)
        ended = position[-1] >= border_height(position[:-1], self.size, self.room_seed)
        return Step(WalkerState(position), -along.astype(jnp.float32), ended)

    def observation(self, state: WalkerState) -> Int[Array, " axis"]:
        """All coordinates."""
        return state.position

    def render(self, state: WalkerState) -> UInt8[np.ndarray, "height width 3"]:
        """Two objectives: the room from above. More: how far along each axis."""
        position = np.asarray(state.position).tolist()
        room = Room(self.num_objectives, self.size, int(self.room_seed))
        return _room_picture(room, position) if len(position) == 2 else _bars(room, position)


def _room_picture(room: Room, position: list[int]) -> UInt8[np.ndarray, "height width 3"]:
    canvas = Canvas(width=room.size, height=room.size, pixels_per_unit=440 / room.size)
    columns = np.arange(room.size, dtype=np.int32)[:, None]
    heights = _heights(columns, room).tolist()
    points = border_front(room)
    front = set() if points is None else {tuple(point) for point in (-points).tolist()}
    for x in range(room.size):
        for y in range(room.size):
            beyond, on_border = y > heights[x], y == heights[x]
            fill = (92, 84, 108) if beyond else (250, 246, 236)
            if on_border:
                fill = (249, 202, 72) if (x, y) in front else (214, 196, 150)
            top = room.size - 1 - y
            canvas.rectangle(x + 0.03, top + 0.03, x + 0.97, top + 0.97, fill=fill)
    canvas.circle(position[0] + 0.5, room.size - 0.5 - position[1], 0.36, fill=(226, 74, 62))
    return canvas.pixels()


def _bars(room: Room, position: list[int]) -> UInt8[np.ndarray, "height width 3"]:
    # Wide enough for the scale, and rows high enough to be read: about 720 by 250 to 460 pixels.
    unit = 720 / (room.size + 4)
    row = max(1.0, 8 / len(position))
    canvas = Canvas(width=room.size + 4, height=row * len(position), pixels_per_unit=unit)
    for axis, value in enumerate(position):
        last, top = axis == len(position) - 1, axis * row

        def box(left: float, right: float, margin: float, colour: tuple[int, int, int]) -> None:
            low, high = top + margin * row, top + (1 - margin) * row  # noqa: B023
            canvas.rectangle(left, low, right, high, fill=colour)

        canvas.text(1.4, top + row / 2, f"axis {axis}", size=0.6, fill=(60, 60, 60))
        box(3, 3 + room.size, 0.2, (236, 234, 228))
        box(3, 3 + value + 0.1, 0.2, (226, 74, 62) if last else (11, 111, 184))
        if last:
            [height] = _heights(np.array([position[:-1]], np.int32), room).tolist()
            box(3 + height - 0.05, 3 + height + 0.1, 0.1, (30, 30, 30))
    return canvas.pixels()
