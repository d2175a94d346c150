"""jumanji: combinatorial and other problems in JAX."""

import warnings
from typing import Any

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Num, PRNGKeyArray

from pcn.envs.adapted.source import AbstractSource, Held, Outcome, as_arrays, as_in
from pcn.errors import UserError
from pcn.lookup import optional_module

MASK = "action_mask"


class JumanjiSource(AbstractSource):
    """An environment of jumanji; the mask in its observations is kept and respected."""

    def __init__(self, name: str) -> None:
        jumanji = optional_module("jumanji", extra="jumanji")
        specs = optional_module("jumanji.specs", extra="jumanji")
        if name not in jumanji.registered_environments():
            known = ", ".join(jumanji.registered_environments())
            raise UserError(f"jumanji has no environment {name!r}; there are: {known}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations do not concern the user
            self._env = jumanji.make(name)
        self.name = name
        self.observation_space = _in_pcn(
            specs.jumanji_specs_to_gym_spaces(self._env.observation_spec)
        )
        self.action_space = specs.jumanji_specs_to_gym_spaces(self._env.action_spec)
        limit = getattr(self._env, "time_limit", None)
        self.step_limit = int(limit) if limit is not None else None
        self.masked_actions = self._has_mask()

    def _has_mask(self) -> bool:
        """Whether observations contain a mask of the numbered actions."""
        space = self.observation_space
        if not isinstance(space, gym.spaces.Dict) or MASK not in space.spaces:
            return False
        actions = self.action_space
        return isinstance(actions, gym.spaces.Discrete) and space[MASK].shape == (actions.n,)

    def reset(self, key: PRNGKeyArray) -> Held:
        """The first state."""
        state, timestep = self._env.reset(key)
        return Held(as_arrays(state), as_in(self.observation_space, timestep.observation))

    def step(self, inner: Any, action: Num[Array, "..."], key: PRNGKeyArray) -> Outcome:
        """The next state; all randomness is in the state."""
        del key
        state, timestep = self._env.step(inner, action)
        held = Held(as_arrays(state, inner), as_in(self.observation_space, timestep.observation))
        over, discount = timestep.last(), jnp.max(jnp.asarray(timestep.discount))
        return Outcome(held, timestep.reward, over & (discount == 0), over & (discount != 0))

    def action_mask(self, held: Held) -> Bool[Array, " choice"]:
        """The mask that is part of the observation; all are allowed where it allows none."""
        mask = jnp.asarray(held.observation[MASK], bool)
        return mask | ~mask.any()


def _in_pcn(space: gym.Space[Any]) -> gym.Space[Any]:
    """The space with Boxes of booleans as integers from 0 to 1."""
    if isinstance(space, gym.spaces.Dict):
        return gym.spaces.Dict({name: _in_pcn(part) for name, part in space.items()})
    if isinstance(space, gym.spaces.Box) and space.dtype == np.bool_:
        return gym.spaces.MultiBinary(space.shape)
    return space
