"""Expectations: the mean reward of a step, and the probability that the episode goes on."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Num, PRNGKeyArray, PyTree

from pcn.nets.embeddings import AbstractStateEmbedding
from pcn.nets.heads import AbstractActionHead
from pcn.types import AnyArray

HIDDEN_LAYERS = 2


class Expectations(eqx.Module):
    """Mean reward and probability of going on after one action; batch with `jax.vmap`.

    Only random quantities are replaced by expectations. Objectives whose rewards follow from
    observation and action keep the received rewards. Where the end of an episode follows from them,
    the probability of going on is 1.
    """

    embed_state: AbstractStateEmbedding
    head: eqx.nn.MLP
    action_head: AbstractActionHead
    reward_mean: Float[Array, " objective"]
    reward_deviation: Float[Array, " objective"]
    random_rewards: Bool[Array, " objective"]
    """The objectives whose mean rewards replace the received ones."""
    random_ends: Bool[Array, ""]
    """Whether the probability of going on is used."""
    lowest: Float[Array, " objective"]
    """Lower bound of desired returns while acting."""
    highest: Float[Array, " objective"]
    """Upper bound of desired returns while acting."""
    least_survival: Float[Array, ""]
    """Smallest probability of going on that desired returns are divided by."""

    def __init__(
        self,
        embed_state: AbstractStateEmbedding,
        action_head: AbstractActionHead,
        *,
        num_objectives: int,
        width: int,
        least_survival: float = 0.05,
        key: PRNGKeyArray,
    ) -> None:
        """An untrained network: nothing counts as random yet, so commands follow the rewards."""
        self.embed_state = embed_state
        self.head = eqx.nn.MLP(
            width + action_head.num_features, num_objectives + 1, width, HIDDEN_LAYERS, key=key
        )
        self.action_head = action_head
        self.reward_mean = jnp.zeros(num_objectives)
        self.reward_deviation = jnp.ones(num_objectives)
        self.random_rewards = jnp.zeros(num_objectives, bool)
        self.random_ends = jnp.asarray(False)
        self.lowest = jnp.full(num_objectives, -jnp.inf)
        self.highest = jnp.full(num_objectives, jnp.inf)
        self.least_survival = jnp.asarray(least_survival, jnp.float32)

    def outputs(
        self, observation: PyTree[Array], action: Num[Array, " part"]
    ) -> Float[Array, " output"]:
        """The standardised mean rewards and the logit of an end."""
        state = jax.nn.relu(self.embed_state(observation))
        return self.head(jnp.concatenate([state, self.action_head.features(action)]))

    def raw(
        self, observation: PyTree[Array], action: Num[Array, " part"]
    ) -> tuple[Float[Array, " objective"], Float[Array, ""]]:
        """The mean reward and the probability of an end, random or not."""
        outputs = self.outputs(observation, action)
        return outputs[:-1] * self.reward_deviation + self.reward_mean, jax.nn.sigmoid(outputs[-1])

    def __call__(
        self, observation: PyTree[Array], action: Num[Array, " part"]
    ) -> Float[Array, " step"]:
        """The mean reward, then the probability of going on: 1 where ends are not random."""
        reward, end = self.raw(observation, action)
        return jnp.append(reward, jnp.where(self.random_ends, 1 - end, 1.0))

    def nothing(self) -> Float[np.ndarray, " step"]:
        """The expectation before the first action."""
        return np.append(np.zeros(len(self.reward_mean), np.float32), np.float32(1))

    def left(
        self,
        desired_return: Float[AnyArray, " objective"],
        expected: Float[AnyArray, " step"],
        reward: Float[Array, " objective"],
        *,
        discount: Float[AnyArray, ""],
    ) -> Float[Array, " objective"]:
        """The rest of a desired return after a step with the expectation `expected`.

        It is divided by the probability of going on, because episodes that go on have to make up
        for those that end.
        """
        deducted = jnp.where(self.random_rewards, expected[:-1], reward)
        survival = jnp.maximum(expected[-1], self.least_survival)
        return jnp.clip(
            (desired_return - deducted) / (discount * survival), self.lowest, self.highest
        )
