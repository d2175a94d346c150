"""gymnax: classic control, bsuite, MinAtar and other environments in JAX."""

import warnings
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Num, PRNGKeyArray

from pcn.envs.adapted.source import AbstractSource, Held, Outcome, as_arrays, as_in
from pcn.errors import UserError
from pcn.lookup import optional_module


class GymnaxSource(AbstractSource):
    """An environment of gymnax by its registered name, with that environment's own parameters.

    They are those that `gymnax.make` returns beside it: `max_steps_in_episode` is the step limit.
    """

    def __init__(self, name: str) -> None:
        gymnax = optional_module("gymnax", extra="gymnax")
        if name not in gymnax.registered_envs:
            known = ", ".join(gymnax.registered_envs)
            raise UserError(f"gymnax has no environment {name!r}; there are: {known}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations do not concern the user
            self._env, self._params = gymnax.make(name)
        self.name = name
        spaces = optional_module("gymnax.environments.spaces", extra="gymnax")
        convert = spaces.gymnax_space_to_gym_space
        self.observation_space = convert(self._env.observation_space(self._params))
        self.action_space = convert(self._env.action_space(self._params))
        self.step_limit = int(self._params.max_steps_in_episode)

    def reset(self, key: PRNGKeyArray) -> Held:
        """Calls `reset_env`."""
        observation, state = self._env.reset_env(key, self._params)
        return Held(as_arrays(state), as_in(self.observation_space, observation))

    def step(self, inner: Any, action: Num[Array, "..."], key: PRNGKeyArray) -> Outcome:
        """Calls `step_env`: `step` would begin a new episode by itself."""
        observation, state, reward, done, _ = self._env.step_env(key, inner, action, self._params)
        held = Held(as_arrays(state, inner), as_in(self.observation_space, observation))
        truncated = jnp.asarray(self._env.is_truncated(state, self._params), bool)
        return Outcome(held, reward, jnp.asarray(done, bool) & ~truncated, truncated)
