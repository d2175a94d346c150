"""A policy to act with, one observation at a time, in any loop."""

from typing import Any

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np

from pcn.command import Command
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.rollout import AbstractAgent, environment_action


@eqx.filter_jit
def _act(agent: AbstractAgent, observation: Any) -> Any:
    return agent.act(observation, jax.random.key(0))


@eqx.filter_jit
def _observing(agent: AbstractAgent, action: Any, reward: Any) -> AbstractAgent:
    return agent.observing(action, reward)


def _as_arrays(space: gym.Space[Any], observation: Any) -> Any:
    """An observation as arrays of the space's own types, whatever sequence it came in."""
    if isinstance(space, gym.spaces.Dict):
        return {name: _as_arrays(part, observation[name]) for name, part in space.items()}
    if isinstance(space, gym.spaces.Tuple):
        return tuple(_as_arrays(part, o) for part, o in zip(space, observation, strict=True))
    array = np.asarray(observation, dtype=space.dtype)
    if array.shape != space.shape:
        raise UserError(f"the observation has shape {array.shape}, expected {space.shape}")
    return array


class Policy:
    """Call `act` with what you see, then `observe` with the reward you got.

    The policy remembers what is left of its command; `reset` starts the next episode.
    """

    def __init__(self, agent: AbstractAgent, spec: EnvironmentSpec) -> None:
        self._start = agent
        self._agent = agent
        self._spec = spec
        self._action: Any = None

    def reset(self) -> None:
        """Forget the episode."""
        self._agent = self._start
        self._action = None

    def act(self, observation: Any) -> Any:
        """The action to take now, as the environment's action space has it."""
        observation = _as_arrays(self._spec.observation_space, observation)
        self._action = _act(self._agent, observation)
        chosen = np.asarray(environment_action(self._spec.action_space, self._action))
        return int(chosen) if chosen.ndim == 0 else chosen

    def observe(self, reward: Any) -> None:
        """Tell the policy what its last action brought."""
        if self._action is None:
            raise RuntimeError("observe() needs an action first: call act()")
        reward = jnp.asarray(reward, jnp.float32)
        self._agent = _observing(self._agent, self._action, reward)
        self._action = None

    @property
    def command(self) -> Command | None:
        """What the policy still tries to reach, for algorithms that work with commands."""
        command = getattr(self._agent, "command", None)
        return command if isinstance(command, Command) else None
