"""Compiled environments: pure JAX functions that `rollout` compiles and batches."""

from abc import abstractmethod
from typing import Any, NamedTuple

import equinox as eqx
import gymnasium as gym
import numpy as np
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray, PyTree, UInt8

from pcn.envs.environment import AbstractEnvironment
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError

State = Any
"""An environment's own pytree of arrays."""


class Step(NamedTuple):
    """The result of one action."""

    state: State
    reward: Float[Array, " objective"]
    terminated: Bool[Array, ""]
    """Whether a terminal state was reached."""
    truncated: Bool[Array, ""] | bool = False
    """Whether the environment ends the episode for another reason.

    The step limit of the spec needs no mention here: `rollout` truncates episodes at it."""


class AbstractCompiledEnvironment(AbstractEnvironment, eqx.Module):
    """One environment as pure functions of its state; callers batch with `jax.vmap`.

    A subclass has a `spec` and defines `reset`, `step` and `observation`. If actions can be
    forbidden, its spec has `masked_actions=True` and it defines `action_mask`. For pictures it
    defines `render`.
    """

    spec: eqx.AbstractVar[EnvironmentSpec]

    @abstractmethod
    def reset(self, key: PRNGKeyArray) -> State:
        """The state that an episode starts in."""

    @abstractmethod
    def step(self, state: State, action: Num[Array, "..."], key: PRNGKeyArray) -> Step:
        """The result of an action.

        The action has the shape of the action space: `Discrete` actions are scalars.
        """

    @abstractmethod
    def observation(self, state: State) -> PyTree[Array]:
        """The observation of a state, an element of the spec's observation space."""

    def action_mask(self, state: State) -> Bool[Array, " choice"]:
        """Which choices are allowed in a state, as one vector.

        Where actions have several parts, the choices of the first part come first.
        """
        del state
        raise UserError(f"{self.spec.name} has masked actions but no method `action_mask`")

    def render(self, state: State) -> UInt8[np.ndarray, "height width 3"]:
        """A picture of a state, for people."""
        del state
        raise UserError(f"{self.spec.name} has no picture: it does not define `render`")

    def person_view(self, render_mode: str | None = None) -> gym.Env[Any, Any]:
        """The environment as a Gymnasium environment that is truncated at the step limit."""
        from pcn.envs.to_gymnasium import CompiledGymEnv  # which imports this module

        return gym.wrappers.TimeLimit(CompiledGymEnv(self, render_mode), self.spec.step_limit)

    def prepare(self) -> None:
        """Check that the methods fit together and fit the spec; an error names what does not."""
        from pcn.envs.compiled_check import check_compiled  # which imports this module

        check_compiled(self)
