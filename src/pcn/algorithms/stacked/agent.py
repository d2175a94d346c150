"""The agent of a plain policy: every episode may have a policy of its own."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from pcn.nets.plain_policy import PlainPolicy
from pcn.rollout import AbstractAgent
from pcn.types import AnyArray


class PolicyAgent(AbstractAgent):
    """Samples from its policy, the more predictably the sharper it is."""

    shared: ClassVar[tuple[str, ...]] = ("sharpness",)

    policy: PlainPolicy
    sharpness: Float[AnyArray, ""]
    """Factor on the logits: 1 follows the policy's probabilities, infinity its first choice."""

    def act(
        self,
        observation: PyTree[Array],
        key: PRNGKeyArray,
        mask: Bool[Array, " logit"] | None = None,
    ) -> Int[Array, " head"]:
        """An action of the policy."""
        heads = self.policy.heads
        logits = self.policy(observation)
        greedy = heads.greedy(heads.masked(logits, mask))
        # Infinity times a logit of zero would be no number.
        factor = jnp.where(jnp.isinf(self.sharpness), 1.0, self.sharpness)
        sampled = heads.sampled(heads.masked(logits * factor, mask), key)
        return jnp.where(jnp.isinf(self.sharpness), greedy, sampled)

    def observing(
        self, action: Int[Array, " head"], reward: Float[Array, " objective"]
    ) -> "PolicyAgent":
        """A policy without a command remembers nothing."""
        del action, reward
        return self
