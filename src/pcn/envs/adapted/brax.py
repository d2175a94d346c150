"""Brax: rigid bodies in JAX. Its reward terms are the objectives."""

import contextlib
import io
import warnings
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Num, PRNGKeyArray

from pcn.envs.adapted.source import AbstractSource, Held, Outcome, Rewards
from pcn.envs.spec import Objective
from pcn.errors import UserError
from pcn.lookup import optional_module

PREFIX = "reward_"
STEP_LIMIT = 1000
"""The step limit of brax's own trainings."""
STANDING_HEIGHT = 1.25
"""Where the torso of the hopper starts, in metres."""


class BraxSource(AbstractSource):
    """An environment of brax, simulated by one of its backends."""

    def __init__(self, name: str, backend: str = "spring") -> None:
        with contextlib.redirect_stdout(io.StringIO()):  # mujoco prints a note on packages
            envs = optional_module("brax.envs", extra="brax")
        if name not in envs._envs:
            raise UserError(f"brax has no environment {name!r}; there are: {', '.join(envs._envs)}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._env = envs.get_environment(name, backend=backend)
        except (AssertionError, KeyError, ValueError) as error:
            raise UserError(f"cannot make {name} with brax' backend {backend!r}: {error}") from None
        self.name = name
        size = (self._env.observation_size,)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, size, np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (self._env.action_size,), np.float32)
        self.step_limit = STEP_LIMIT

    def reset(self, key: PRNGKeyArray) -> Held:
        """The first state."""
        state = self._env.reset(key)
        return Held(state, jnp.asarray(state.obs, jnp.float32))

    def step(self, inner: Any, action: Num[Array, "..."], key: PRNGKeyArray) -> Outcome:
        """The next state; brax draws random numbers when it resets only."""
        del key
        state = self._env.step(inner, action)
        held = Held(state, jnp.asarray(state.obs, jnp.float32))
        return Outcome(held, state.reward, state.done > 0, jnp.asarray(False))

    def own_rewards(self) -> Rewards | None:
        """The terms that make up the scalar reward, as they stand in the metrics; two at least."""
        terms = Terms(self._env)
        return terms if len(terms.names) > 1 else None


class Terms:
    """The reward terms of brax: the metrics that begin with `reward_`, costs as negatives."""

    def __init__(self, env: Any) -> None:
        state = jax.eval_shape(env.reset, jax.random.key(0))
        self.names = tuple(sorted(name for name in state.metrics if name.startswith(PREFIX)))
        self.objectives = tuple(Objective(name.removeprefix(PREFIX)) for name in self.names)

    def __call__(
        self, state: Any, action: Any, following: Any, reward: Any
    ) -> Float[Array, " objective"]:
        """The terms in the order of their names."""
        del state, action, reward
        return jnp.stack([following.metrics[name] for name in self.names])


def forward_height_control(
    state: Any, action: Any, following: Any, reward: Any
) -> Float[Array, " objective"]:
    """Speed, height and control of brax' hopper, each with the reward for standing, as mo-hopper's.

    Height is how far the torso is above where it starts, in tenths of a metre.
    """
    del state, action, reward
    metrics = following.metrics
    height = 10 * (following.pipeline_state.x.pos[0, 2] - STANDING_HEIGHT)
    terms = jnp.stack([metrics["reward_forward"], height, metrics["reward_ctrl"]])
    return terms + metrics["reward_healthy"]


forward_height_control.objectives = (  # type: ignore[attr-defined]
    Objective("forward"), Objective("height"), Objective("control"),
)  # fmt: skip
