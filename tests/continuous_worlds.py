"""Worlds of one step with continuous actions whose fronts are known by hand."""

from abc import abstractmethod
from typing import Any, NamedTuple

import equinox as eqx
import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from pcn.envs import AbstractCompiledEnvironment, EnvironmentSpec, Objective, Step

OBSERVED = gym.spaces.MultiDiscrete([2], dtype=np.int32)


class Place(NamedTuple):
    """Nothing but the place where one acts."""

    place: Int[Array, " 1"]


def _spec(name, action_space, reference_point):
    return EnvironmentSpec(
        name=name,
        objectives=(Objective("first"), Objective("second")),
        observation_space=OBSERVED,
        action_space=action_space,
        step_limit=1,
        reference_point=reference_point,
    )


class _OneStep(AbstractCompiledEnvironment):
    """What the worlds share."""

    spec: eqx.AbstractVar[EnvironmentSpec]

    def reset(self, key):
        del key
        return Place(jnp.zeros(1, jnp.int32))

    def observation(self, state):
        return state.place

    @abstractmethod
    def rewards(self, action: Any) -> Array:
        """What an action brings."""

    def step(self, state, action, key):
        del key
        return Step(Place(state.place + 1), self.rewards(action), jnp.asarray(True))


class TwoSides(_OneStep):
    """Left and right bring the same; what lies between them is bad.

    The reward of x in [-1, 1] is (|x|, -|x|) beyond .25 on either side, and 5 less of both between.
    The front is (y, -y) for y from .25 to 1: every point of it has two actions, whose mean is 0.
    """

    spec: EnvironmentSpec = eqx.field(static=True)

    def __init__(self):
        self.spec = _spec("two-sides", gym.spaces.Box(-1.0, 1.0, (1,)), (-6.0, -6.0))

    def rewards(self, action):
        size = jnp.abs(action[0])
        return jnp.stack([size, -size]) - jnp.where(size < 0.25, 5.0, 0.0)


class GearAndForce(_OneStep):
    """A choice of two rewards, both of which grow with a real number from 0 to 1."""

    spec: EnvironmentSpec = eqx.field(static=True)
    FRONT = frozenset({(2.0, 4.0), (3.0, 2.0)})

    def __init__(self):
        parts = {"gear": gym.spaces.Discrete(2), "force": gym.spaces.Box(0.0, 1.0, (1,))}
        self.spec = _spec("gear-and-force", gym.spaces.Dict(parts), (0.0, 0.0))

    def rewards(self, action):
        return jnp.array([[1.0, 3.0], [2.0, 1.0]])[action["gear"]] + action["force"]


class Pump(gym.Env):
    """A gymnasium environment that takes any amount, and cuts it off at `most` if it is given."""

    def __init__(self, most=7.3):
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = gym.spaces.Box(0.0, np.inf, (1,), np.float32)
        self._most = most

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._time = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self._time += 1
        amount = float(action[0]) if self._most is None else min(float(action[0]), self._most)
        return np.zeros(1, np.float32), np.array([amount, -(amount**2)]), False, self._time == 4, {}
