"""Who acts in an episode."""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import gymnasium as gym
import jax
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray, PyTree


class AbstractAgent(eqx.Module):
    """Who acts in one episode; what it remembers of the episode are its own fields.

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
        """Choose an action, where `mask` is given among those it allows."""

    def draw(self, key: PRNGKeyArray) -> PyTree[Array]:
        """The random numbers of one action; the key itself, unless an agent draws ahead of time.

        Whoever acts many steps later may use them: they depend on shared fields only.
        """
        return key

    def act_drawn(
        self,
        observation: PyTree[Array],
        drawn: PyTree[Array],
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """The same as `act`, with what `draw` gave for its key."""
        return self.act(observation, drawn, mask)

    @abstractmethod
    def observing(
        self, action: Num[Array, " part"], reward: Float[Array, " objective"]
    ) -> "AbstractAgent":
        """The agent after it has acted and received a reward."""


def environment_action(space: gym.Space[Any], action: Num[Array, " part"]) -> Num[Array, "..."]:
    """The action as the environment's space has it: a number where there is a single head."""
    return action[0] if isinstance(space, gym.spaces.Discrete) else action


def own_mask(agents: AbstractAgent) -> PyTree[bool]:
    """Mark the arrays that differ between episodes."""
    return jax.tree_util.tree_map_with_path(
        lambda path, leaf: eqx.is_array(leaf) and path[0].name not in agents.shared, agents
    )
