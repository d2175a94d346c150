"""What a compiled environment is: pure JAX functions that `rollout` compiles and batches."""

from abc import abstractmethod
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree, UInt8

from pcn.envs.spec import EnvironmentSpec

State = Any
"""An environment's own pytree of arrays."""


class Step(NamedTuple):
    """What one action leads to. Truncation at the step limit is the rollout's business."""

    state: State
    reward: Float[Array, " objective"]
    terminated: Bool[Array, ""]


class AbstractCompiledEnvironment(eqx.Module):
    """One environment as pure functions of its state; callers batch with `jax.vmap`."""

    spec: eqx.AbstractVar[EnvironmentSpec]

    @abstractmethod
    def reset(self, key: PRNGKeyArray) -> State:
        """The state an episode starts in."""

    @abstractmethod
    def step(self, state: State, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """The outcome of one action."""

    @abstractmethod
    def observation(self, state: State) -> PyTree[Array]:
        """What the policy sees of a state; an element of the spec's observation space."""

    @abstractmethod
    def render(self, state: State) -> UInt8[np.ndarray, "height width 3"]:
        """A picture of the state for people."""
