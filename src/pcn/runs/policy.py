"""A policy that acts one observation at a time, in any loop."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pcn.command import Command
from pcn.envs.answers import observation_fault
from pcn.envs.observations import reader_for
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.nets.heads import action_head_for
from pcn.rollout import AbstractAgent


@eqx.filter_jit
def _act(agent: AbstractAgent, observation: Any, mask: Any) -> tuple[AbstractAgent, Any]:
    action = agent.act(observation, jax.random.key(0), mask)
    return agent.having_acted(observation, action), action


@eqx.filter_jit
def _option_probabilities(agent: AbstractAgent, observation: Any, mask: Any) -> Any:
    return agent.option_probabilities(observation, mask)


@eqx.filter_jit
def _observing(agent: AbstractAgent, action: Any, reward: Any) -> AbstractAgent:
    return agent.observing(action, reward)


class Policy:
    """Call `act` with the observation, then `observe` with the reward.

    The policy keeps the rest of its command and, where observations are stacked images, the last
    images; `reset` starts the next episode.
    """

    def __init__(self, agent: AbstractAgent, spec: EnvironmentSpec) -> None:
        self._start = agent
        self._agent = agent
        self._spec = spec
        self._head = action_head_for(spec.action_space)
        self._reader = reader_for(spec)
        self._read = self._reader.first
        self._acted = agent
        self._action: Any = None
        self._seen: tuple[Any, Any] | None = None

    def reset(self) -> None:
        """Start a new episode."""
        self._agent = self._start
        self._read = self._reader.first
        self._action = None
        self._seen = None

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        """The action to take now, in the form of the environment's action space.

        `action_mask` says which actions are allowed, as in `info["action_mask"]`; it must be given
        where the environment masks actions.
        """
        mask = self._checked_mask(action_mask)
        fault = observation_fault(self._reader.shown_space, observation)
        if fault is not None:
            raise UserError(fault)
        observation = self._read(observation)
        self._read = self._reader.next
        self._seen = observation, mask
        self._acted, self._action = _act(self._agent, observation, mask)
        return self._head.to_environment(np.asarray(self._action)[None])[0]

    def option_probabilities(self) -> list[Float[np.ndarray, " option"]] | None:
        """The network's probability of each option of the action that `act` has just returned.

        One array for each part of an action, so one for a `Discrete` space; None where there is no
        network, or where options cannot be counted.
        """
        if self._action is None or self._seen is None:
            raise RuntimeError("option_probabilities() needs an action first: call act()")
        found = _option_probabilities(self._agent, *self._seen)
        return None if found is None else [np.asarray(part) for part in found]

    def options(self) -> tuple[list[int], list[list[str]] | None]:
        """The indices of the chosen (or nearest) options of the last action, and the names of all
        options.

        One for each part of an action; the names are None where options are only numbered.
        """
        if self._action is None:
            raise RuntimeError("options() needs an action first: call act()")
        network = getattr(self._start, "policy", None)
        head = self._head if network is None else network.action_head
        return head.to_options(np.asarray(self._action)).tolist(), head.option_names()

    def observe(self, reward: Any) -> None:
        """Update the command with the reward of the last action."""
        if self._action is None:
            raise RuntimeError("observe() needs an action first: call act()")
        try:
            # NumPy only warns where it leaves out the imaginary parts of an array.
            kind = np.complex64 if np.iscomplexobj(reward) else np.float32
            rewards = np.asarray(reward, dtype=kind)
        except (TypeError, ValueError):
            rewards = np.full(1, np.nan, np.float32)
        is_usable = np.isrealobj(rewards) and np.isfinite(rewards).all()
        if rewards.shape != (self._spec.num_objectives,) or not is_usable:
            raise UserError(
                f"a reward must be {self._spec.num_objectives} finite numbers, got {reward!r}"
            )
        self._agent = _observing(self._acted, self._action, jnp.asarray(rewards))
        self._action = None

    def _checked_mask(self, given: Any) -> Bool[np.ndarray, " choice"] | None:
        """The mask as one vector; a `UserError` where it is missing, too short or forbids all."""
        if given is None:
            if self._spec.masked_actions:
                raise UserError(
                    f"{self._spec.name} masks actions: call act(observation, info['action_mask'])"
                )
            return None
        return self._head.checked_mask(given)

    @property
    def command(self) -> Command | None:
        """The current command of the network; None for policies that take no command."""
        command = getattr(self._agent, "command", None)
        return command if isinstance(command, Command) else None
