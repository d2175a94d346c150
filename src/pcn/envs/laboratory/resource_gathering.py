"""Resource Gathering: fetch gold and a diamond past two enemies."""

from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray, UInt8

from pcn.envs.compiled import AbstractCompiledEnvironment, Step
from pcn.envs.laboratory.known_front import known_front
from pcn.envs.laboratory.picture import grid_picture
from pcn.envs.spec import EnvironmentSpec, Objective

FIELD = ("  GE ", "  E D", "     ", "     ", "  H  ")
"""Rows of the field: gold, enemies, diamond and home."""
SIZE = len(FIELD)
HOME = (4, 2)
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
DEATH_PROBABILITY = 0.1


class GathererState(NamedTuple):
    """Where the gatherer is and what it carries."""

    position: Int[Array, " 2"]
    has_gold: Bool[Array, ""]
    has_diamond: Bool[Array, ""]


class ResourceGathering(AbstractCompiledEnvironment):
    """A gatherer brings home gold, a diamond or both, and may be killed on the way.

    The dynamics are those of MO-Gymnasium's `resource-gathering-v0` (Barrett and Narayanan, 2008,
    doi:10.1145/1390156.1390162).

    - Observation: `Box(0, 5, (4,))` of integers: row, column, whether it has the gold, whether it
      has the diamond. It starts at home.
    - Actions: `Discrete(4)`: up, down, left, right; at an edge it stays where it is.
    - Rewards: `survival`, -1 when killed by an enemy (one visit in ten); `gold` and `diamond`, 1
      when brought home.
    - Ends: terminated at home or when killed; truncated after 100 steps.
    - Front: proven for the discount .9, nine points; without a discount there is no trade-off.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self) -> None:
        self.spec = EnvironmentSpec(
            name="resource-gathering",
            objectives=(Objective("survival"), Objective("gold"), Objective("diamond")),
            observation_space=gym.spaces.Box(0, 5, (4,), np.int32),
            action_space=gym.spaces.Discrete(4),
            step_limit=100,
            reference_point=(-1.0, -1.0, -2.0),
            front=known_front("resource-gathering"),
            deterministic=False,
            action_names=("up", "down", "left", "right"),
        )

    def reset(self, key: PRNGKeyArray) -> GathererState:
        """Start at home with nothing."""
        del key
        return GathererState(jnp.array(HOME, jnp.int32), jnp.array(False), jnp.array(False))

    def step(self, state: GathererState, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """Move; what stands in the cell decides the rest."""
        move = jnp.asarray(MOVES, jnp.int32)[action]
        position = jnp.clip(state.position + move, 0, SIZE - 1)
        cell = _cells()[position[0], position[1]]
        has_gold = state.has_gold | (cell == ord("G"))
        has_diamond = state.has_diamond | (cell == ord("D"))
        killed = (cell == ord("E")) & (jax.random.uniform(key) < DEATH_PROBABILITY)
        home = cell == ord("H")
        reward = jnp.stack([-killed.astype(jnp.float32), home * 1.0 * has_gold, home * has_diamond])
        following = GathererState(position, has_gold, has_diamond)
        return Step(following, reward.astype(jnp.float32), killed | home)

    def observation(self, state: GathererState) -> Int[Array, " 4"]:
        """Row, column, gold, diamond."""
        carried = jnp.stack([state.has_gold, state.has_diamond]).astype(jnp.int32)
        return jnp.concatenate([state.position, carried])

    def render(self, state: GathererState) -> UInt8[np.ndarray, "height width 3"]:
        """The field from above."""
        carried = [
            name
            for name, has in (("gold", state.has_gold), ("diamond", state.has_diamond))
            if bool(has)
        ]
        colours = {
            "G": (249, 202, 72),
            "D": (120, 198, 235),
            "E": (92, 74, 62),
            "H": (150, 200, 120),
        }
        at = (int(state.position[0]), int(state.position[1]))
        return grid_picture(FIELD, colours, at, caption=" and ".join(carried) or "nothing")


def _cells() -> Int[Array, "row column"]:
    return jnp.array([[ord(mark) for mark in row] for row in FIELD], jnp.int32)
