"""A compiled environment as an ordinary Gymnasium environment, for people and other libraries."""

from typing import Any

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, UInt8

from pcn.envs.compiled import AbstractCompiledEnvironment
from pcn.nets.heads import action_head_for


class CompiledGymEnv(gym.Env[Any, Any]):
    """Steps a compiled environment; rewards are vectors, as in MO-Gymnasium.

    Where the environment has action masks, `info["action_mask"]` is the mask of the next action.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self, environment: AbstractCompiledEnvironment, render_mode: str | None = None
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode must be None or 'rgb_array', got {render_mode!r}")
        spec = environment.spec
        if type(environment).render is AbstractCompiledEnvironment.render:
            self.metadata = {"render_modes": []}
        self.environment = environment
        self.render_mode = render_mode
        self.observation_space = spec.observation_space
        self.action_space = spec.action_space
        self.reward_space = gym.spaces.Box(-np.inf, np.inf, (spec.num_objectives,), np.float32)
        self.reward_dim = spec.num_objectives
        self.objectives = spec.objectives
        self._action_head = action_head_for(spec.action_space)
        self._reset = eqx.filter_jit(environment.reset)
        self._step = eqx.filter_jit(environment.step)
        self._observe = eqx.filter_jit(environment.observation)
        self._mask = eqx.filter_jit(environment.action_mask)
        self._state: Any = None

    def _key(self) -> Any:
        return jax.random.key(int(self.np_random.integers(1 << 31)))

    def _observation(self) -> Any:
        return jax.tree.map(np.asarray, self._observe(self._state))

    def _info(self) -> dict[str, Any]:
        if not self.environment.spec.masked_actions:
            return {}
        return self._action_head.to_info(np.asarray(self._mask(self._state)))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self._state = self._reset(self._key())
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take one action; truncation at the step limit is left to Gymnasium's `TimeLimit`."""
        if self._state is None:
            raise gym.error.ResetNeeded("call reset() before step()")
        if not self.action_space.contains(action):
            raise ValueError(f"action {action!r} is not in {self.action_space}")
        outcome = self._step(self._state, jax.tree.map(jnp.asarray, action), self._key())
        self._state = outcome.state
        return (
            self._observation(),
            np.asarray(outcome.reward),
            bool(outcome.terminated),
            bool(outcome.truncated),
            self._info(),
        )

    def render(self) -> UInt8[np.ndarray, "height width 3"] | None:
        """A picture of the current state."""
        if self.render_mode is None:
            return None
        if self._state is None:
            raise gym.error.ResetNeeded("call reset() before render()")
        return self.environment.render(self._state)

    def pareto_front(self, gamma: float = 1.0) -> list[Float[np.ndarray, " objective"]]:
        """The front, where it is known for this discount; named and shaped as in MO-Gymnasium."""
        front = self.environment.spec.front
        if front is None:
            raise ValueError("the front of this environment is not known")
        if gamma != front.discount:
            raise ValueError(f"the front is known for gamma={front.discount:g}, not for {gamma:g}")
        return list(front.returns)
