"""A compiled environment as an ordinary Gymnasium environment, for people and other libraries."""

from typing import Any

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, UInt8

from pcn.envs.compiled import AbstractCompiledEnvironment


class CompiledGymEnv(gym.Env[Any, Any]):
    """Steps a compiled environment; rewards are vectors, as in MO-Gymnasium."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self, environment: AbstractCompiledEnvironment, render_mode: str | None = None
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode must be None or 'rgb_array', got {render_mode!r}")
        self.environment = environment
        self.render_mode = render_mode
        self.observation_space = environment.spec.observation_space
        self.action_space = environment.spec.action_space
        num_objectives = environment.spec.num_objectives
        self.reward_space = gym.spaces.Box(-np.inf, np.inf, (num_objectives,), np.float32)
        self.reward_dim = num_objectives
        self._reset = eqx.filter_jit(environment.reset)
        self._step = eqx.filter_jit(environment.step)
        self._observe = eqx.filter_jit(environment.observation)
        self._state: Any = None

    def _key(self) -> Any:
        return jax.random.key(int(self.np_random.integers(1 << 31)))

    def _observation(self) -> Any:
        return jax.tree.map(np.asarray, self._observe(self._state))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self._state = self._reset(self._key())
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take one action; the step limit is Gymnasium's `TimeLimit` wrapper's business."""
        if self._state is None:
            raise gym.error.ResetNeeded("call reset() before step()")
        if not self.action_space.contains(action):
            raise ValueError(f"action {action!r} is not in {self.action_space}")
        outcome = self._step(self._state, jnp.asarray(action), self._key())
        self._state = outcome.state
        reward = np.asarray(outcome.reward)
        return self._observation(), reward, bool(outcome.terminated), False, {}

    def render(self) -> UInt8[np.ndarray, "height width 3"] | None:
        """A picture of the current state."""
        if self.render_mode is None:
            return None
        if self._state is None:
            raise gym.error.ResetNeeded("call reset() before render()")
        return self.environment.render(self._state)

    def pareto_front(self, gamma: float = 1.0) -> list[Float[np.ndarray, " objective"]]:
        """The undiscounted front, where it is known; named and shaped as in MO-Gymnasium."""
        front = self.environment.spec.front
        if front is None or gamma != 1.0:
            raise ValueError("only the undiscounted front (gamma=1) can be known here")
        return list(front.returns)
