"""Stalls: a little lottery for tests of weighted values, and settings that suit it."""

from typing import NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pcn.algorithms.pcn.config import PCNConfig
from pcn.algorithms.pcn.refinements import Planning, Standardise, WeightedValues
from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step

SETTINGS = WeightedValues(
    fewest_steps=200,
    num_steps=1,
    width=32,
    updates_per_step=1.0,
    learning_rate=3e-3,
    copied_after=50,
    plans=9,
    teaching_updates=600,
    teaching_round=200,
    practices=1,
)
CONFIG = PCNConfig(
    total_steps=3_000,
    discount=0.99,
    width=32,
    episodes_per_iteration=16,
    warmup_episodes=64,
    updates_per_iteration=4,
    capacity=40,
    evaluations=0,
    refinements=(Standardise(), Planning(window=256), SETTINGS),
)
PAID = np.array([[2.0, 0.0], [0.0, 2.0], [1.2, 1.2]])
"""What the stalls pay; a ticket is worth (.45, .45)."""


class Stand(NamedTuple):
    """Where the player stands, and what of it is seen."""

    place: Int[Array, ""]
    seen: Float[Array, " number"]


DICT_SPACE = gym.spaces.Dict(
    {
        "place": gym.spaces.MultiDiscrete([3]),
        "weather": gym.spaces.Box(-9, 9, (2, 1), np.float32),
    }
)


class Stalls(AbstractCompiledEnvironment):
    """Walk to the stalls, then take what one of three pays for sure, or a ticket.

    One ticket in twenty wins (9, 9): the mean is (.45, .45), but winners dominate all others. What
    is seen never repeats, unless it is rounded.
    """

    spec: EnvironmentSpec = eqx.field(static=True)
    noise: float = eqx.field(static=True)
    unit: float = eqx.field(static=True)
    """What money is counted in."""

    def __init__(self, noise=0.1, unit=1.0, **others):
        self.noise, self.unit = noise, unit
        self.spec = EnvironmentSpec(
            name="stalls",
            objectives=(Objective("money"), Objective("joy")),
            **{
                "observation_space": gym.spaces.Box(-9, 9, (3,), np.float32),
                "action_space": gym.spaces.Discrete(4),
                "step_limit": 3,
                "reference_point": (-1.0, -1.0),
                "deterministic": False,
                **others,
            },
        )

    def _at(self, place, key):
        seen = jnp.array([1.0, 0.0, 0.0]) * place + self.noise * jax.random.normal(key, (3,))
        return Stand(place, seen)

    def reset(self, key):
        return self._at(jnp.int32(0), key)

    def step(self, state, action, key):
        chance_key, seen_key = jax.random.split(key)
        wins = jax.random.uniform(chance_key) < 0.05
        table = jnp.concatenate([jnp.asarray(PAID), jnp.full((1, 2), 9.0 * wins)])
        reward = jnp.where(state.place == 1, table[action], 0.0)
        reward = reward / jnp.array([self.unit, 1.0])
        return Step(self._at(state.place + 1, seen_key), reward, state.place == 1)

    def observation(self, state):
        return state.seen


class StallsOfParts(Stalls):
    """What is seen is a whole number and a little picture of real numbers."""

    def __init__(self):
        super().__init__(observation_space=DICT_SPACE)

    def observation(self, state):
        place = state.place[None].astype(jnp.int32)
        return {"place": place, "weather": state.seen[1:, None]}


class StallsOfTwoChoices(Stalls):
    """A second choice is made with each action; it costs (.5, .5) at the stalls, or nothing."""

    def __init__(self):
        super().__init__(action_space=gym.spaces.MultiDiscrete([4, 2]))

    def step(self, state, action, key):
        step = super().step(state, action[0], key)
        return step._replace(reward=step.reward - jnp.where(state.place == 1, 0.5 * action[1], 0.0))


class StallsWithMasks(Stalls):
    """The second stall is closed, and nobody may take the first option before the stalls."""

    def __init__(self):
        super().__init__(masked_actions=True)

    def action_mask(self, state):
        at_stalls = state.place == 1
        return jnp.array([True, False, True, True]) & (at_stalls | (jnp.arange(4) > 0))
