"""Deep Sea Treasure (concave map): a submarine trades treasure against time."""

from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray, UInt8

from pcn.envs.compiled import AbstractCompiledEnvironment, Step
from pcn.envs.drawing import Canvas
from pcn.envs.spec import EnvironmentSpec, Front, Objective

SIZE = 11
TREASURES: dict[tuple[int, int], int] = {
    (1, 0): 1,
    (2, 1): 2,
    (3, 2): 3,
    (4, 3): 5,
    (4, 4): 8,
    (4, 5): 16,
    (7, 6): 24,
    (7, 7): 50,
    (9, 8): 74,
    (10, 9): 124,
}
"""Value of the treasure at each (row, column); the cells below a treasure are rock."""

MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""Up, down, left, right, as (row, column)."""


def sea_map() -> Int[np.ndarray, "row column"]:
    """Treasure values, 0 for water and -1 for rock."""
    cells = np.zeros((SIZE, SIZE), dtype=np.int32)
    for (row, column), value in TREASURES.items():
        cells[row, column] = value
        cells[row + 1 :, column] = -1
    return cells


def _front() -> Front:
    # No rock stands above a treasure, so the shortest way is the Manhattan distance.
    returns = [(value, -(row + column)) for (row, column), value in TREASURES.items()]
    return Front(
        returns=np.array(returns, dtype=np.float64),
        status="proven",
        source="shortest path to each treasure",
    )


class SubmarineState(NamedTuple):
    """Where the submarine is."""

    position: Int[Array, " 2"]


class DeepSeaTreasure(AbstractCompiledEnvironment):
    """A submarine looks for treasure: the deeper a treasure lies, the more it is worth.

    The dynamics are those of MO-Gymnasium's `deep-sea-treasure-concave-v0`, step by step (Vamplew
    et al., 2011, doi:10.1007/s10994-010-5232-5).

    - Observation: `MultiDiscrete([11, 11])`, the row and the column of the submarine. It starts in
      row 0, column 0.
    - Actions: `Discrete(4)`: up, down, left, right. The submarine stays where it is if rock or the
      edge of the map is in the way.
    - Rewards: `treasure`, the value of the treasure that was reached, otherwise 0; `time`, -1 for
      every step.
    - Ends: terminated when a treasure is reached; truncated after 200 steps.
    - Front: proven, 10 points, one for the shortest way to each treasure.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self) -> None:
        self.spec = EnvironmentSpec(
            name="deep-sea-treasure",
            objectives=(
                Objective("treasure", direction="maximise"),
                Objective("time", unit="steps", direction="minimise"),
            ),
            observation_space=gym.spaces.MultiDiscrete([SIZE, SIZE], dtype=np.int32),
            action_space=gym.spaces.Discrete(4),
            step_limit=200,
            reference_point=(0.0, -200.0),
            front=_front(),
            action_names=("up", "down", "left", "right"),
        )

    def reset(self, key: PRNGKeyArray) -> SubmarineState:
        """Start at the top left."""
        del key
        return SubmarineState(jnp.zeros(2, dtype=jnp.int32))

    def step(self, state: SubmarineState, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """Move unless rock or the map's edge is in the way; a treasure ends the episode."""
        del key
        cells = jnp.asarray(sea_map())
        target = jnp.clip(state.position + jnp.asarray(MOVES, dtype=jnp.int32)[action], 0, SIZE - 1)
        blocked = cells[target[0], target[1]] < 0
        position = jnp.where(blocked, state.position, target)
        treasure = cells[position[0], position[1]]
        reward = jnp.stack([treasure.astype(jnp.float32), jnp.float32(-1.0)])
        return Step(SubmarineState(position), reward, treasure > 0)

    def observation(self, state: SubmarineState) -> Int[Array, " 2"]:
        """Row and column."""
        return state.position

    def render(self, state: SubmarineState) -> UInt8[np.ndarray, "height width 3"]:
        """The sea, its treasures and the submarine."""
        return _picture(int(state.position[0]), int(state.position[1]))


def _picture(row: int, column: int) -> UInt8[np.ndarray, "height width 3"]:
    canvas = Canvas(width=SIZE, height=SIZE, pixels_per_unit=44)
    for depth in range(SIZE):
        shade = depth / (SIZE - 1)
        water = (int(120 - 100 * shade), int(198 - 120 * shade), int(235 - 95 * shade))
        canvas.rectangle(0, depth, SIZE, depth + 1, fill=water)
    cells = sea_map()
    for y, x in np.argwhere(cells < 0).tolist():
        canvas.rectangle(x, y, x + 1, y + 1, fill=(92, 74, 62))
        canvas.rectangle(x + 0.06, y + 0.06, x + 0.94, y + 0.94, fill=(110, 90, 76))
    for (y, x), value in TREASURES.items():
        canvas.rectangle(x, y, x + 1, y + 1, fill=(92, 74, 62))
        canvas.circle(x + 0.5, y + 0.5, 0.42, fill=(249, 202, 72), outline=(186, 132, 22))
        canvas.text(x + 0.5, y + 0.5, str(value), size=0.36, fill=(90, 58, 0))
    canvas.ellipse(column + 0.5, row + 0.56, 0.42, 0.24, fill=(226, 74, 62), outline=(130, 30, 26))
    canvas.rectangle(column + 0.40, row + 0.18, column + 0.62, row + 0.36, fill=(226, 74, 62))
    for window in (0.32, 0.52, 0.72):
        canvas.circle(column + window, row + 0.56, 0.065, fill=(214, 240, 255))
    return canvas.pixels()
