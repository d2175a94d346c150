"""Breakable Bottles: carry two bottles along a corridor, at once or one after the other."""

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

SIZE = 5
DROP_PROBABILITY = 0.1
BOTTLE_REWARD = 25
LEFT, RIGHT, PICK_UP = range(3)


class CarrierState(NamedTuple):
    """Where the carrier is, and where the bottles are."""

    location: Int[Array, ""]
    carrying: Int[Array, ""]
    delivered: Int[Array, ""]
    dropped: Bool[Array, " between"]
    """Which of the cells between source and destination have broken bottles."""


class BreakableBottles(AbstractCompiledEnvironment):
    """A carrier brings two bottles from one end of a corridor to the other.

    Whoever carries both at once may drop one. The dynamics are those of MO-Gymnasium's
    `breakable-bottles-v0` (Vamplew et al., 2021, doi:10.1016/j.engappai.2021.104186).

    - Observation: a `Dict` of `location` (0 is the source, 4 the destination, where it starts),
      `bottles_carrying`, `bottles_delivered` and `bottles_dropped`, which says of the three cells
      between whether a bottle broke there. (MO-Gymnasium counts the bottles there, although its
      space has no number above 1; nothing depends on the count.)
    - Actions: `Discrete(3)`: left, right, pick up. Bottles are picked up at the source, two at
      most. Leaving a cell between with two bottles breaks one of them with probability .1.
    - Rewards: `time`, -1 for every step; `bottles`, 25 for each one delivered; `litter`, -1 when
      the first bottle breaks.
    - Ends: terminated when two bottles are delivered; truncated after 100 steps.
    - Front: proven, two points.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self) -> None:
        self.spec = EnvironmentSpec(
            name="breakable-bottles",
            objectives=(
                Objective("time", unit="steps", direction="minimise"),
                Objective("bottles"),
                Objective("litter", direction="minimise"),
            ),
            observation_space=gym.spaces.Dict(
                {
                    "location": gym.spaces.Discrete(SIZE),
                    "bottles_carrying": gym.spaces.Discrete(3),
                    "bottles_delivered": gym.spaces.Discrete(3),
                    "bottles_dropped": gym.spaces.MultiBinary(SIZE - 2),
                }
            ),
            action_space=gym.spaces.Discrete(3),
            step_limit=100,
            reference_point=(-100.0, 0.0, -1.0),
            front=known_front("breakable-bottles"),
            deterministic=False,
            action_names=("left", "right", "pick up"),
        )

    def reset(self, key: PRNGKeyArray) -> CarrierState:
        """Start at the destination with nothing."""
        del key
        nothing = jnp.int32(0)
        return CarrierState(jnp.int32(SIZE - 1), nothing, nothing, jnp.zeros(SIZE - 2, bool))

    def step(self, state: CarrierState, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """Perhaps drop a bottle, then move; or pick one up."""
        move = jnp.array([-1, 1, 0], jnp.int32)[action]
        location = jnp.clip(state.location + move, 0, SIZE - 1)
        here = jnp.arange(1, SIZE - 1) == state.location
        at_risk = (state.carrying == 2) & (move != 0)
        dropped = here & at_risk & (jax.random.uniform(key) < DROP_PROBABILITY)
        picks = (action == PICK_UP) & (state.location == 0) & (state.carrying < 2)
        carrying = state.carrying - jnp.any(dropped) + picks
        arrives = (location == SIZE - 1) & (state.location != location)
        handed_over = jnp.where(arrives, jnp.minimum(carrying, 2 - state.delivered), 0)
        following = CarrierState(
            location,
            jnp.where(arrives, 0, carrying).astype(jnp.int32),
            state.delivered + handed_over,
            state.dropped | dropped,
        )
        litter = jnp.any(following.dropped) & ~jnp.any(state.dropped)
        reward = jnp.stack(
            [jnp.float32(-1), BOTTLE_REWARD * handed_over, -litter.astype(jnp.int32)]
        )
        return Step(following, reward.astype(jnp.float32), following.delivered == 2)

    def observation(self, state: CarrierState) -> dict[str, Array]:
        """All that the state holds."""
        return {
            "location": state.location,
            "bottles_carrying": state.carrying,
            "bottles_delivered": state.delivered,
            "bottles_dropped": state.dropped.astype(jnp.int8),
        }

    def render(self, state: CarrierState) -> UInt8[np.ndarray, "height width 3"]:
        """The corridor."""
        between = ["*" if broken else " " for broken in np.asarray(state.dropped)]
        caption = f"carries {int(state.carrying)}, delivered {int(state.delivered)}"
        colours = {"B": (150, 200, 120), "H": (249, 202, 72), "*": (200, 160, 160)}
        return grid_picture(
            [["B", *between, "H"]], colours, (0, int(state.location)), caption=caption, pixels=80
        )
