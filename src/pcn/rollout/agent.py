"""The interface of agents: a policy and its memory of the current episode."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray, PyTree


def plain_method(module: eqx.Module, name: str) -> Callable[..., Any]:
    """A method of a module that does not become a part of a compiled function.

    Equinox makes a module of a method whenever it is looked up, and of what it returns whenever it
    is called: both take longer than most methods that are called at every step.
    """
    return partial(getattr(type(module), name), module)


class Plan(NamedTuple):
    """Actions of episodes that are known before they begin."""

    actions: Num[np.ndarray, "episode time part"]
    obeys_masks: bool
    """Whether forbidden actions are replaced by random allowed ones."""


class AbstractAgent(eqx.Module):
    """Acts in one episode; its fields hold its policy and its memory of the episode.

    In a batch of agents every field has one value per episode, except those named in `shared`.
    """

    shared: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def act(
        self,
        observation: PyTree[Array],
        key: PRNGKeyArray,
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """Choose an action; with a `mask`, one that it allows."""

    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...] = ()) -> PyTree[Array]:
        """The random numbers of `shape` many actions; keys, unless a subclass draws beforehand.

        They may be used many steps later, so they may depend on shared fields only. Drawing many
        at once takes less than half as long as drawing each with a key of its own.
        """
        return jax.random.split(key, shape) if shape else key

    def draw_on_host(
        self, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> PyTree[np.ndarray] | None:
        """What `draw` returns, but drawn by NumPy; None where only `draw` can.

        Gymnasium environments are stepped on the host, and NumPy needs no compiled program.
        """
        del rng, shape
        return None

    def act_drawn(
        self,
        observation: PyTree[Array],
        drawn: PyTree[Array],
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """The same as `act`, with the result of `draw` instead of a key."""
        return self.act(observation, drawn, mask)

    def needs_random_numbers(self) -> bool:
        """Whether what `draw` returns can matter to any agent of a batch on the host."""
        return True

    def option_probabilities(
        self, observation: PyTree[Array], mask: Bool[Array, " choice"] | None = None
    ) -> list[Float[Array, " option"]] | None:
        """The network's probability of each option of each part of an action; None without a
        network."""
        del observation, mask
        return None

    def having_acted(
        self, observation: PyTree[Array], action: Num[Array, " part"]
    ) -> "AbstractAgent":
        """The agent after it has chosen an action; unchanged, unless it remembers observations."""
        del observation, action
        return self

    @abstractmethod
    def observing(
        self, action: Num[Array, " part"], reward: Float[Array, " objective"]
    ) -> "AbstractAgent":
        """The agent after it has acted and received a reward."""

    def plan(self, num_steps: int) -> Plan | None:
        """The first actions of a batch of agents, if they are known before the episodes begin.

        Environments in other processes are then sent whole episodes instead of single actions.
        """
        del num_steps
        return None


def own_mask(agents: AbstractAgent) -> PyTree[bool]:
    """Mark the arrays that have one value per episode."""
    return jax.tree_util.tree_map_with_path(
        lambda path, leaf: eqx.is_array(leaf) and path[0].name not in agents.shared, agents
    )
