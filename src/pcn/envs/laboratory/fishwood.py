"""FishWood: spend the day fishing or in the woods."""

from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray, UInt8

from pcn.envs.compiled import AbstractCompiledEnvironment, Step
from pcn.envs.laboratory.picture import grid_picture
from pcn.envs.spec import EnvironmentSpec, Front, Objective
from pcn.errors import UserError

FISHING, WOODS = 0, 1
NUM_STEPS = 200


class FishermanState(NamedTuple):
    """Where the fisherman is, and how late it is."""

    place: Int[Array, ""]
    time: Int[Array, ""]


def _front(fish_probability: float, wood_probability: float) -> Front:
    # A step pays where it begins, and the first begins in the woods: k of the other 199 at the
    # water give k fish and 200 - k pieces of wood, each with its probability.
    fishing = np.arange(NUM_STEPS)
    return Front(
        np.column_stack([fish_probability * fishing, wood_probability * (NUM_STEPS - fishing)]),
        "proven",
        "closed form: expected fish and wood for every number of steps at the water",
    )


class FishWood(AbstractCompiledEnvironment):
    """A fisherman either fishes or collects wood, and is lucky or not.

    The dynamics are those of MO-Gymnasium's `fishwood-v0` (Roijers et al., 2018, "Multi-objective
    reinforcement learning for the expected utility of the return").

    - Observation: `Box(0, 1, (1,))` of integers: 0 at the water, 1 in the woods, where it starts.
      The time is not observed.
    - Actions: `Discrete(2)`: go fishing, go to the woods. A step pays where it begins.
    - Rewards: `fish`, 1 with probability .1 at the water; `wood`, 1 with probability .9 in the
      woods.
    - Ends: terminated after 200 steps.
    - Front: proven, 200 points, one for each number of steps at the water.

    Args:
        fish_probability: How likely a fish is.
        wood_probability: How likely a piece of wood is.
    """

    spec: EnvironmentSpec = eqx.field(static=True)
    probabilities: tuple[float, float] = eqx.field(static=True)

    def __init__(self, *, fish_probability: float = 0.1, wood_probability: float = 0.9) -> None:
        for probability in (fish_probability, wood_probability):
            if not 0 < probability <= 1:
                raise UserError(f"fishwood's probabilities are above 0, at most 1: {probability}")
        self.probabilities = (fish_probability, wood_probability)
        self.spec = EnvironmentSpec(
            name="fishwood",
            objectives=(Objective("fish"), Objective("wood")),
            observation_space=gym.spaces.Box(0, 1, (1,), np.int32),
            action_space=gym.spaces.Discrete(2),
            step_limit=NUM_STEPS,
            reference_point=(0.0, 0.0),
            front=_front(fish_probability, wood_probability),
            deterministic=fish_probability == wood_probability == 1,
            action_names=("fish", "wood"),
        )

    def reset(self, key: PRNGKeyArray) -> FishermanState:
        """Start in the woods."""
        del key
        return FishermanState(jnp.int32(WOODS), jnp.int32(0))

    def step(self, state: FishermanState, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """Perhaps gain something here, then go."""
        gains = jax.random.uniform(key) < jnp.array(self.probabilities)[state.place]
        reward = gains.astype(jnp.float32) * (jnp.arange(2) == state.place)
        following = FishermanState(action.astype(jnp.int32), state.time + 1)
        return Step(following, reward, following.time == NUM_STEPS)

    def observation(self, state: FishermanState) -> Int[Array, " 1"]:
        """The place."""
        return state.place[None]

    def render(self, state: FishermanState) -> UInt8[np.ndarray, "height width 3"]:
        """The two places."""
        colours = {"F": (120, 198, 235), "W": (150, 200, 120)}
        at = (0, int(state.place))
        return grid_picture(["FW"], colours, at, caption=f"t = {int(state.time)}", pixels=120)
