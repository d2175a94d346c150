"""Environments in other units: the rewards of each objective are multiplied by a factor."""

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step


class Scaled(AbstractCompiledEnvironment):
    """A compiled environment whose objectives have other units.

    The reference point is zero, which is zero in any unit: one program serves all of them.
    """

    spec: EnvironmentSpec = eqx.field(static=True)
    inner: Any
    factors: Float[Array, " objective"]

    def __init__(self, inner, factors):
        self.inner = inner
        self.factors = jnp.array(factors, jnp.float32)
        self.spec = dataclasses.replace(
            inner.spec, front=None, reference_point=(0.0,) * inner.spec.num_objectives
        )

    def reset(self, key):
        return self.inner.reset(key)

    def step(self, state, action, key):
        outcome = self.inner.step(state, action, key)
        return outcome._replace(reward=outcome.reward * self.factors)

    def observation(self, state):
        return self.inner.observation(state)

    def action_mask(self, state):
        return self.inner.action_mask(state)


class GambleState(NamedTuple):
    time: Int[Array, ""]


class Gamble(AbstractCompiledEnvironment):
    """Three times: one for sure of the first objective, or an even chance of four of the second."""

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self):
        self.spec = EnvironmentSpec(
            name="gamble",
            objectives=(Objective("wage"), Objective("prize")),
            observation_space=gym.spaces.MultiDiscrete([6], dtype=np.int32),
            action_space=gym.spaces.Discrete(2),
            step_limit=10,
            reference_point=(-1.0, -1.0),
            deterministic=False,
        )

    def reset(self, key):
        del key
        return GambleState(jnp.int32(0))

    def step(self, state, action, key):
        prize = jnp.where(jax.random.bernoulli(key), 4.0, 0.0)
        reward = jnp.where(action == 0, jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]) * prize)
        return Step(GambleState(state.time + 1), reward, state.time >= 2)

    def observation(self, state):
        return state.time[None]
