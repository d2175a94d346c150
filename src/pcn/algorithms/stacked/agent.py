"""The agent of a plain policy; every episode may have its own policy."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray, PyTree

from pcn.nets.plain_policy import PlainPolicy
from pcn.rollout import AbstractAgent
from pcn.types import AnyArray


class PolicyAgent(AbstractAgent):
    """Samples from its policy; the larger the sharpness, the less random are the actions."""

    shared: ClassVar[tuple[str, ...]] = ("sharpness",)

    policy: PlainPolicy
    sharpness: Float[AnyArray, ""]
    """Factor on the logits: 1 gives the policy's probabilities, infinity the greedy action."""

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
        # Infinity times a logit of zero would be NaN.
        factor = jnp.where(jnp.isinf(self.sharpness), 1.0, self.sharpness)
        sharp = head.masked(head.sharpened(outputs, factor), mask)
        sampled = head.sampled(sharp, head.noise(key))
        return jnp.where(jnp.isinf(self.sharpness), greedy, sampled)

    def option_probabilities(
        self, observation: PyTree[Array], mask: Bool[Array, " choice"] | None = None
    ) -> list[Float[Array, " option"]] | None:
        """The policy's probability of each option, without the sharpness."""
        head = self.policy.action_head
        return head.option_probabilities(head.masked(self.policy(observation), mask))

    def observing(
        self, action: Num[Array, " part"], reward: Float[Array, " objective"]
    ) -> "PolicyAgent":
        """The same agent: a policy without a command has no memory."""
        del action, reward
        return self
