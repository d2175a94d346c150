"""A compiled environment with action masks, two action parts and truncation of its own."""

from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step

LEFT, STAY, RIGHT = range(3)
DOOR = 3
CLOSING_TIME = 5
OWN_LIMIT = 6


class CorridorState(NamedTuple):
    place: Int[Array, ""]
    time: Int[Array, ""]


class Corridor(AbstractCompiledEnvironment):
    """Three steps to a door, and a piece of work at each step but the first, if one wants to.

    The first part of an action moves (not left of the start, not through the door once it has
    closed), the second works or rests. Objectives: pieces of work, and minus the steps. Going
    through the door terminates an episode; six steps truncate it.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self, *, step_limit=20):
        self.spec = EnvironmentSpec(
            name="corridor",
            objectives=(Objective("work"), Objective("time", direction="minimise")),
            observation_space=gym.spaces.MultiDiscrete([DOOR + 1, OWN_LIMIT + 1], dtype=np.int32),
            action_space=gym.spaces.MultiDiscrete([3, 2]),
            step_limit=step_limit,
            reference_point=(-1.0, -10.0),
            masked_actions=True,
        )

    def reset(self, key):
        del key
        return CorridorState(jnp.int32(0), jnp.int32(0))

    def action_mask(self, state):
        closed = (state.place == DOOR - 1) & (state.time >= CLOSING_TIME)
        return jnp.stack(
            [state.place > 0, jnp.asarray(True), ~closed, jnp.asarray(True), state.time > 0]
        )

    def step(self, state, action, key):
        del key
        place = state.place + action[0] - 1
        reward = jnp.stack([action[1].astype(jnp.float32), -1.0])
        after = CorridorState(place, state.time + 1)
        return Step(after, reward, place == DOOR, after.time == OWN_LIMIT)

    def observation(self, state):
        return jnp.stack([state.place, state.time])


# By hand: an episode of L steps has at most L - 1 pieces of work. The door closes before the sixth
# step, so that six steps are only possible where the environment truncates the episode.
FRONT = [[2.0, -3.0], [3.0, -4.0], [4.0, -5.0], [5.0, -6.0]]


def mask_by_hand(place, time):
    """The allowed moves and kinds of work."""
    return [place > 0, True, not (place == DOOR - 1 and time >= CLOSING_TIME)], [True, time > 0]
