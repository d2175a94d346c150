"""Fruit Tree: a fruit with six nutrients at every leaf of a binary tree."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt8

from pcn.envs.compiled import AbstractCompiledEnvironment, Step
from pcn.envs.discounts import DISCOUNTS
from pcn.envs.laboratory.picture import grid_picture
from pcn.envs.spec import EnvironmentSpec, Front, Objective
from pcn.errors import UserError
from pcn.pareto import unique_front

FRUITS_FILE = Path(__file__).with_name("fruits.json")
NUTRIENTS = ("protein", "carbs", "fats", "vitamins", "minerals", "water")


@cache
def fruits_of(depth: int) -> Float[np.ndarray, "leaf nutrient"]:
    """The fruits of a tree from left to right, in the precision that rewards have."""
    return np.array(json.loads(FRUITS_FILE.read_text())[str(depth)], np.float32)


def _front(depth: int) -> Front:
    # Every leaf is reached in as many steps, and by exactly one way.
    discount = DISCOUNTS["fruit-tree"]
    returns = discount ** (depth - 1) * fruits_of(depth).astype(np.float64)
    front = returns[unique_front(returns)]
    return Front(front, "proven", "all leaves compared", discount=discount)


class ClimberState(NamedTuple):
    """Row and place in the row."""

    node: Int[Array, " 2"]


class FruitTree(AbstractCompiledEnvironment):
    """A climber goes left or right at every fork and eats the fruit at the end of the branch.

    The dynamics are those of MO-Gymnasium's `fruit-tree-v0`, and the fruits are those of its
    authors (Yang et al., 2019, arXiv:1908.08342; github.com/RunzheYang/MORL, MIT licence).

    - Observation: `Box(0, 2^depth - 1, (2,))` of integers: row and place in the row; it starts at
      (0, 0).
    - Actions: `Discrete(2)`: left, right.
    - Rewards: six nutrients, those of the fruit at a leaf, otherwise 0.
    - Ends: terminated at a leaf, after `depth` steps.
    - Front: proven for the discount .99, all leaves: 32, 64 or 128 points.

    Args:
        depth: 5, 6 or 7.
    """

    spec: EnvironmentSpec = eqx.field(static=True)
    depth: int = eqx.field(static=True)

    def __init__(self, depth: int = 6) -> None:
        if depth not in (5, 6, 7):
            raise UserError(f"fruit-tree's depth is 5, 6 or 7, got {depth}")
        self.depth = depth
        self.spec = EnvironmentSpec(
            name=f"fruit-tree (depth {depth})",
            objectives=tuple(Objective(name) for name in NUTRIENTS),
            observation_space=gym.spaces.Box(0, 2**depth - 1, (2,), np.int32),
            action_space=gym.spaces.Discrete(2),
            step_limit=depth,
            reference_point=(0.0,) * len(NUTRIENTS),
            front=_front(depth),
            action_names=("left", "right"),
        )

    def reset(self, key: PRNGKeyArray) -> ClimberState:
        """Start at the root."""
        del key
        return ClimberState(jnp.zeros(2, jnp.int32))

    def step(self, state: ClimberState, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """One row further; a leaf has a fruit."""
        del key
        row, place = state.node[0] + 1, 2 * state.node[1] + action
        at_leaf = row == self.depth
        fruit = jnp.asarray(fruits_of(self.depth))[jnp.minimum(place, 2**self.depth - 1)]
        node = jnp.stack([row, place]).astype(jnp.int32)
        return Step(ClimberState(node), jnp.where(at_leaf, fruit, 0.0), at_leaf)

    def observation(self, state: ClimberState) -> Int[Array, " 2"]:
        """Row and place in the row."""
        return state.node

    def render(self, state: ClimberState) -> UInt8[np.ndarray, "height width 3"]:
        """The rows of the tree from above, each as wide as the lowest."""
        row, place = int(state.node[0]), int(state.node[1])
        width = 2**self.depth
        rows = [[" "] * width for _ in range(self.depth + 1)]
        at = (row, (place + 0.5) * width / 2**row - 0.5)
        return grid_picture(rows, {}, at, caption=f"row {row}, place {place}", pixels=1200 // width)
