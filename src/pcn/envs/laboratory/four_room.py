"""Four Room: collect shapes of three kinds on the way through four rooms."""

from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray, UInt8

from pcn.envs.compiled import AbstractCompiledEnvironment, Step
from pcn.envs.laboratory.known_front import known_front
from pcn.envs.laboratory.picture import grid_picture
from pcn.envs.spec import EnvironmentSpec, Objective

MAZE = (
    "1    2#     G",
    "      #      ",
    "      1      ",
    "             ",
    "      #      ",
    "2    3#      ",
    "##3 ##### 1##",
    "      #2    3",
    "      #      ",
    "             ",
    "      2      ",
    "      #      ",
    "S     #3    1",
)
"""Walls `#`, shapes `1` to `3`, start `S` and goal `G`."""
SIZE = len(MAZE)
MOVES = ((0, -1), (-1, 0), (0, 1), (1, 0))
SHAPES = tuple(
    (row, column) for column in range(SIZE) for row in range(SIZE) if MAZE[row][column] in "123"
)
"""Where the shapes are, column by column: the order of the observation."""
START, GOAL = (SIZE - 1, 0), (0, SIZE - 1)


class CollectorState(NamedTuple):
    """Where the collector is and which shapes it has."""

    position: Int[Array, " 2"]
    collected: Bool[Array, " shape"]


class FourRoom(AbstractCompiledEnvironment):
    """A collector walks through four rooms to the goal and picks up shapes on its way.

    The dynamics are those of MO-Gymnasium's `four-room-v0` (Barreto et al., 2017,
    arXiv:1606.05312).

    - Observation: `Box(0, 13, (14,))` of integers: row, column, and for each of the twelve shapes
      whether it has been collected. It starts at the bottom left.
    - Actions: `Discrete(4)`: left, up, right, down. It stays where it is if a wall or the edge of
      the maze is in the way.
    - Rewards: `blue`, `green` and `red`, 1 for each shape of that kind, and 1 each at the goal.
    - Ends: terminated at the goal; truncated after 200 steps.
    - Front: proven for the discount .95; without a discount there is no trade-off.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self) -> None:
        self.spec = EnvironmentSpec(
            name="four-room",
            objectives=(Objective("blue"), Objective("green"), Objective("red")),
            observation_space=gym.spaces.Box(0, SIZE, (2 + len(SHAPES),), np.int32),
            action_space=gym.spaces.Discrete(4),
            step_limit=200,
            reference_point=(0.0, 0.0, 0.0),
            front=known_front("four-room"),
            action_names=("left", "up", "right", "down"),
        )

    def reset(self, key: PRNGKeyArray) -> CollectorState:
        """Start at the bottom left with nothing."""
        del key
        return CollectorState(jnp.array(START, jnp.int32), jnp.zeros(len(SHAPES), bool))

    def step(self, state: CollectorState, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """Move unless something is in the way, and collect what is there."""
        del key
        walls = jnp.array([[mark == "#" for mark in row] for row in MAZE])
        kinds = jnp.array([int(MAZE[row][column]) - 1 for row, column in SHAPES])
        target = jnp.clip(state.position + jnp.array(MOVES, jnp.int32)[action], 0, SIZE - 1)
        position = jnp.where(walls[target[0], target[1]], state.position, target)
        here = jnp.all(jnp.array(SHAPES, jnp.int32) == position[None], axis=1)
        gained = here & ~state.collected
        arrived = jnp.all(position == jnp.array(GOAL, jnp.int32))
        by_kind = jnp.any(gained[:, None] & (kinds[:, None] == jnp.arange(3)[None]), axis=0)
        reward = (by_kind | arrived).astype(jnp.float32)
        return Step(CollectorState(position, state.collected | here), reward, arrived)

    def observation(self, state: CollectorState) -> Int[Array, " 14"]:
        """Row, column and the shapes that have been collected."""
        return jnp.concatenate([state.position, state.collected.astype(jnp.int32)])

    def render(self, state: CollectorState) -> UInt8[np.ndarray, "height width 3"]:
        """The maze from above."""
        rows = [list(row) for row in MAZE]
        for (row, column), gone in zip(SHAPES, np.asarray(state.collected), strict=True):
            rows[row][column] = " " if gone else rows[row][column]
        colours = {
            "#": (60, 60, 60), "1": (90, 140, 230), "2": (110, 190, 110), "3": (235, 110, 100),
            "G": (249, 202, 72),
        }  # fmt: skip
        return grid_picture(rows, colours, (int(state.position[0]), int(state.position[1])))
