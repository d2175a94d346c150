"""The agent of section 4.3: follows its command, with exploration mixed in while training."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from pcn.command import Command
from pcn.nets.policy import ConditionedPolicy
from pcn.rollout import AbstractAgent
from pcn.types import AnyArray

NO_ACTION = -1
"""The last action where there has been none."""


class ConditionedAgent(AbstractAgent):
    """A policy under a command. One agent serves warm-up, exploration and execution.

    Warm-up is `noise` 1; execution is `greedy` with `noise` 0.
    """

    shared: ClassVar[tuple[str, ...]] = ("policy", "greedy", "discount", "upper_bound")

    policy: ConditionedPolicy
    command: Command
    noise: Float[AnyArray, "*episode"]
    """Probability of a random action."""
    repeat: Float[AnyArray, "*episode"]
    """Probability that a random action is the last action again."""
    last_action: Int[AnyArray, "*episode head"]
    """`NO_ACTION` before the first one."""
    greedy: Bool[AnyArray, ""]
    discount: Float[AnyArray, ""]
    upper_bound: Float[AnyArray, " objective"]

    def act(
        self,
        observation: PyTree[Array],
        key: PRNGKeyArray,
        mask: Bool[Array, " logit"] | None = None,
    ) -> Int[Array, " head"]:
        """Sample from the network, take its first choice, or act at random."""
        return self.act_drawn(observation, self.draw(key), mask)

    def draw(self, key: PRNGKeyArray) -> Float[Array, " drawn"]:
        """Noise for the network's choice and for a random one, and two chances."""
        policy_key, random_key, chance_key = jax.random.split(key, 3)
        noise = self.policy.heads.noise
        chance = jax.random.uniform(chance_key, (2,))
        return jnp.concatenate([noise(policy_key), noise(random_key), chance])

    def act_drawn(
        self,
        observation: PyTree[Array],
        drawn: Float[Array, " drawn"],
        mask: Bool[Array, " logit"] | None = None,
    ) -> Int[Array, " head"]:
        """What `act` does, once chance has spoken."""
        heads = self.policy.heads
        logits = heads.masked(self.policy(observation, self.command), mask)
        policy_noise, random_noise, chance = jnp.split(drawn, (len(logits), 2 * len(logits)))
        sampled = heads.greedy(logits + policy_noise)
        wanted = jnp.where(self.greedy, heads.greedy(logits), sampled)
        fresh = heads.greedy(heads.masked(jnp.zeros_like(logits), mask) + random_noise)
        # An episode that began by repeating would begin with action 0, whatever that is.
        has_acted = jnp.all(self.last_action != NO_ACTION)
        repeats = (chance[1] < self.repeat) & has_acted & heads.allowed(self.last_action, mask)
        random = jnp.where(repeats, self.last_action, fresh)
        return jnp.where(chance[0] < self.noise, random, wanted)

    def observing(
        self, action: Int[Array, " head"], reward: Float[Array, " objective"]
    ) -> "ConditionedAgent":
        """The agent with what is left of its command."""
        command = self.command.after(reward, discount=self.discount, upper_bound=self.upper_bound)
        changed: ConditionedAgent = eqx.tree_at(
            lambda agent: (agent.command, agent.last_action), self, (command, action)
        )
        return changed
