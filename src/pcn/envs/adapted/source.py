"""The interface to an environment of another JAX package: reset, step and metadata."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray, PyTree

Rewards = Callable[[Any, Any, Any, Any], Float[Array, " objective"]]
"""A vector reward: a function of the package's own state, the action, the state that follows, and
the package's scalar reward. Its attribute `objectives`, if it has one, names the objectives."""


class Held(NamedTuple):
    """The package's own state, and its observation."""

    inner: Any
    observation: PyTree[Array]


class Outcome(NamedTuple):
    """The result of one action."""

    held: Held
    reward: Any
    """The package's scalar reward."""
    terminated: Bool[Array, ""]
    truncated: Bool[Array, ""]


class AbstractSource(ABC):
    """An environment of another package, without its automatic reset."""

    name: str
    observation_space: gym.Space[Any]
    action_space: gym.Space[Any]
    step_limit: int | None = None
    """The package's own step limit; None if it has none."""
    masked_actions: bool = False

    @abstractmethod
    def reset(self, key: PRNGKeyArray) -> Held:
        """The state that an episode starts in."""

    @abstractmethod
    def step(self, inner: Any, action: Num[Array, "..."], key: PRNGKeyArray) -> Outcome:
        """The result of an action."""

    def action_mask(self, held: Held) -> Bool[Array, " choice"]:
        """Which actions are allowed."""
        del held
        raise TypeError(f"{type(self).__name__} has no masks")

    def own_rewards(self) -> Rewards | None:
        """The package's own vector reward; None if it has only a scalar one."""
        return None


def as_in(space: gym.Space[Any], observation: Any) -> Any:
    """An observation with the types, and the containers, of its space."""
    if isinstance(space, gym.spaces.Dict):
        parts = observation if isinstance(observation, dict) else _fields(observation)
        return {name: as_in(part, parts[name]) for name, part in space.items()}
    if isinstance(space, gym.spaces.Tuple):
        return tuple(as_in(part, one) for part, one in zip(space, observation, strict=True))
    return jnp.asarray(observation).astype(space.dtype).reshape(space.shape)


def _fields(record: Any) -> dict[str, Any]:
    """The fields of a named tuple or of a dataclass."""
    return dict(record._asdict() if hasattr(record, "_asdict") else vars(record))


def as_arrays(state: Any, before: Any = None) -> Any:
    """A state without Python numbers, and with the types of the state before."""
    if before is None:
        return jax.tree.map(jnp.asarray, state)
    return jax.tree.map(lambda old, new: jnp.asarray(new).astype(old.dtype), before, state)
