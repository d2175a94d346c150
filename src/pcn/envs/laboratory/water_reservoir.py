"""Water Reservoir: release water from a dam against floods and thirst."""

from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt8

from pcn.envs.compiled import AbstractCompiledEnvironment, Step
from pcn.envs.laboratory.known_front import known_front
from pcn.envs.laboratory.picture import grid_picture
from pcn.envs.spec import EnvironmentSpec, Objective

STARTS = (
    96.855361, 58.046026, 116.15767, 20.164311, 79.191,
    140.13098, 131.01816, 44.351321, 13.185943, 73.508622,
)  # fmt: skip
"""The levels that episodes start with, all equally likely."""
RELEASES = tuple(10.0 * number for number in range(16))
DEMAND = 50.0
FLOOD_LEVEL = 50.0
MOST_KEPT = 100.0
"""What the reservoir can hold back; the rest is released whatever is asked for."""
INFLOW_MEAN, INFLOW_DEVIATION = 40.0, 10.0


class ReservoirState(NamedTuple):
    """How much water there is."""

    level: Float[Array, " 1"]


class WaterReservoir(AbstractCompiledEnvironment):
    """A dam releases water: too little means thirst, too much now means thirst later.

    The dynamics are those of MO-Gymnasium's `water-reservoir-v0` (Castelletti et al., 2012,
    doi:10.1109/IJCNN.2012.6252759), whose action is any amount of water. Here it is one of 16:
    with them dynamic programming reaches .99 of the hypervolume that it reaches with any amount.

    - Observation: `Box(0, inf, (1,))`: the level. It starts at one of ten levels.
    - Actions: `Discrete(16)`: release 0, 10, ..., 150; never more than there is, and at least what
      is above 100.
    - Rewards: `flood`, what the new level is above 50, negated; `thirst`, what the release is
      below 50, negated. The inflow is normal with mean 40 and deviation 10.
    - Ends: truncated after 100 steps.
    - Front: best known, by dynamic programming on a grid of levels.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self) -> None:
        self.spec = EnvironmentSpec(
            name="water-reservoir",
            objectives=(
                Objective("flood", direction="minimise"),
                Objective("thirst", direction="minimise"),
            ),
            observation_space=gym.spaces.Box(0.0, np.inf, (1,), np.float32),
            action_space=gym.spaces.Discrete(len(RELEASES)),
            step_limit=100,
            reference_point=(-250.0, -1100.0),
            front=known_front("water-reservoir"),
            deterministic=False,
            action_names=tuple(f"release {amount:g}" for amount in RELEASES),
        )

    def reset(self, key: PRNGKeyArray) -> ReservoirState:
        """Start with one of ten levels."""
        return ReservoirState(jax.random.choice(key, jnp.array(STARTS, jnp.float32), (1,)))

    def step(self, state: ReservoirState, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """Release what was asked for, as far as possible; then it rains."""
        level = state.level
        least = jnp.maximum(level - MOST_KEPT, 0.0)
        release = jnp.clip(jnp.array(RELEASES, jnp.float32)[action], least, level)
        inflow = INFLOW_MEAN + INFLOW_DEVIATION * jax.random.normal(key, (1,))
        following = jnp.maximum(level - release + inflow, 0.0)
        flood = jnp.maximum(following - FLOOD_LEVEL, 0.0)
        thirst = jnp.maximum(DEMAND - release, 0.0)
        reward = -jnp.concatenate([flood, thirst])
        return Step(ReservoirState(following), reward, jnp.array(False))

    def observation(self, state: ReservoirState) -> Float[Array, " 1"]:
        """The level."""
        return state.level

    def render(self, state: ReservoirState) -> UInt8[np.ndarray, "height width 3"]:
        """The level against a scale."""
        level = float(state.level[0])
        at = (10 - min(level, 200.0) / 20, 1.0)
        rows = [["~" if 200 - 20 * row <= level else " "] * 3 for row in range(11)]
        return grid_picture(rows, {"~": (120, 198, 235)}, at, caption=f"{level:.0f}")
