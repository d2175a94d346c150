"""The agent of a plain policy: every episode may have a policy of its own."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray, PyTree

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
        mask: Bool[Array, " choice"] | None = None,
    ) -> Num[Array, " part"]:
        """An action of the policy."""
        head = self.policy.action_head
        outputs = self.policy(observation)
        greedy = head.greedy(head.masked(outputs, mask))
        # Infinity times a logit of zero would be no number.
        factor = jnp.where(jnp.isinf(self.sharpness), 1.0, self.sharpness)
        sharp = head.masked(head.sharpened(outputs, factor), mask)
        sampled = head.sampled(sharp, head.noise(key))
        return jnp.where(jnp.isinf(self.sharpness), greedy, sampled)

    def option_probabilities(
        self, observation: PyTree[Array], mask: Bool[Array, " choice"] | None = None
    ) -> list[Float[Array, " option"]] | None:
        """What the policy thinks of each option, whatever its sharpness."""
        head = self.policy.action_head
        return head.option_probabilities(head.masked(self.policy(observation), mask))

    def observing(
        self, action: Num[Array, " part"], reward: Float[Array, " objective"]
    ) -> "PolicyAgent":
        """A policy without a command remembers nothing."""
        del action, reward
        return self
