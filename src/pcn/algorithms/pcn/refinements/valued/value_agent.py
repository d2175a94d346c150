"""An agent that does what is worth most to it, with exploration mixed in."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray, PyTree

from pcn.nets.heads import AbstractActionHead
from pcn.nets.value_network import ValueNetwork
from pcn.rollout import AbstractAgent
from pcn.types import AnyArray


class ValueAgent(AbstractAgent):
    """Takes the option of highest weighted value; the head has one choice, and knows no masks."""

    shared: ClassVar[tuple[str, ...]] = ("values", "action_head")

    values: ValueNetwork
    action_head: AbstractActionHead
    weights: Float[AnyArray, "*episode objective"]
    noise: Float[AnyArray, "*episode"]
    """Probability of a random action."""

    def act(
        self,
        observation: PyTree[Array],
        key: PRNGKeyArray,
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """The best option, or a random one."""
        return self.act_drawn(observation, self.draw(key), mask)

    def draw(self, key: PRNGKeyArray) -> Float[Array, " drawn"]:
        """Noise for a random choice, and a chance."""
        random_key, chance_key = jax.random.split(key)
        noise = self.action_head.noise(random_key)
        return jnp.concatenate([noise, jax.random.uniform(chance_key, (1,))])

    def act_drawn(
        self,
        observation: PyTree[Array],
        drawn: Float[Array, " drawn"],
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """What `act` does, with random numbers that were drawn before."""
        seen = jnp.concatenate(
            [jnp.ravel(leaf).astype(jnp.float32) for leaf in jax.tree.leaves(observation)]
        )  # as `pcn.episodes.flat`
        best = self.action_head.greedy(self.values.utilities(seen, self.weights))
        random = self.action_head.random(drawn[:-1], mask)
        return jnp.where(drawn[-1] < self.noise, random, best)

    def observing(
        self, action: Num[Array, " part"], reward: Float[Array, " objective"]
    ) -> "ValueAgent":
        """The same agent: it remembers nothing."""
        del action, reward
        return self
