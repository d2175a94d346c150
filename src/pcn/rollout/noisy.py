"""Agents that follow a rule, and act at random now and then."""

from abc import abstractmethod

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray, PyTree

from pcn.nets.heads import AbstractActionHead
from pcn.rollout.agent import AbstractAgent, plain_method
from pcn.types import AnyArray


class AbstractNoisyAgent(AbstractAgent):
    """Follows its rule; acts at random with the probability `noise`, or if the rule gives no
    action."""

    action_head: AbstractActionHead
    noise: Float[AnyArray, "*episode"]
    """Probability of a random action."""

    @abstractmethod
    def wanted(
        self, observation: PyTree[Array], mask: Bool[Array, " choice"] | None
    ) -> tuple[Num[Array, " part"], Bool[Array, ""]]:
        """The action of the rule, and whether there is one."""

    def act(
        self,
        observation: PyTree[Array],
        key: PRNGKeyArray,
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """The action of the rule, or a random action."""
        return self.act_drawn(observation, self.draw(key), mask)

    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...] = ()) -> Float[Array, "*shape drawn"]:
        """Random numbers for an action, and for the choice whether to use it."""
        random_key, chance_key = jax.random.split(key)
        noise = self.action_head.noise(random_key, shape)
        return jnp.concatenate([noise, jax.random.uniform(chance_key, (*shape, 1))], axis=-1)

    def draw_on_host(
        self, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> Float[np.ndarray, "*shape drawn"] | None:
        """The same, drawn by NumPy if the head can."""
        noise = plain_method(self.action_head, "noise_on_host")(rng, shape)
        if noise is None:
            return None
        return np.concatenate([noise, rng.random((*shape, 1), np.float32)], axis=-1)

    def act_drawn(
        self,
        observation: PyTree[Array],
        drawn: Float[Array, " drawn"],
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """The same as `act`, with random numbers that were drawn before."""
        action, is_wanted = self.wanted(observation, mask)
        random = self.action_head.random(drawn[:-1], mask)
        return jnp.where(is_wanted & (drawn[-1] >= self.noise), action, random)

    def observing(
        self, action: Num[Array, " part"], reward: Float[Array, " objective"]
    ) -> "AbstractNoisyAgent":
        """The same agent: it does not use rewards."""
        del action, reward
        return self


def in_a_row(observation: PyTree[Array]) -> Float[Array, " number"]:
    """All numbers of an observation, as `pcn.episodes.flat` has them; it compiles."""
    return jnp.concatenate(
        [jnp.ravel(leaf).astype(jnp.float32) for leaf in jax.tree.leaves(observation)]
    )
