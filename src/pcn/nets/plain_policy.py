"""A policy without a command: linear, or with one hidden layer, on a state embedding."""

from typing import Any

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from pcn.nets.embeddings import AbstractStateEmbedding
from pcn.nets.heads import AbstractActionHead, action_head_for
from pcn.nets.spaces import embedding_for

HIDDEN_WIDTH = 48
"""Hidden units where no width is given and observations are not integers (authors: Minecart)."""


class PlainPolicy(eqx.Module):
    """Turns an observation into outputs for the action head; batch with `jax.vmap`."""

    embed_state: AbstractStateEmbedding
    head: eqx.nn.Linear | None
    """None for a linear policy, whose embedding is its output."""
    action_head: AbstractActionHead

    @classmethod
    def for_spaces(
        cls,
        observation_space: gym.Space[Any],
        action_space: gym.Space[Any],
        *,
        width: int | None,
        joint_one_hot: bool,
        key: PRNGKeyArray,
    ) -> "PlainPolicy":
        """A policy that fits an environment, with `width` hidden units; 0 makes it linear.

        When no width is given, integers get a linear policy: one row of outputs for each value.
        """
        state_key, head_key = jax.random.split(key)
        # One Gaussian: its mean is the policy, and changes smoothly with the weights.
        action_head = action_head_for(action_space, "gaussian")

        def embedding(size: int) -> AbstractStateEmbedding:
            return embedding_for(
                observation_space, size, joint_one_hot=joint_one_hot, key=state_key
            )

        if width is None:
            width = 0 if embedding(1).one_row_per_value else HIDDEN_WIDTH
        if width == 0:
            return cls(embedding(action_head.num_outputs), None, action_head)
        head = eqx.nn.Linear(width, action_head.num_outputs, key=head_key)
        return cls(embedding(width), head, action_head)

    def __call__(self, observation: PyTree[Array]) -> Float[Array, " output"]:
        """The outputs that `action_head` turns into an action, such as logits."""
        state = self.embed_state(observation)
        return state if self.head is None else self.head(jnp.tanh(state))

    def undecided(self) -> "PlainPolicy":
        """The policy with a last layer of zeros, so that every action is equally likely."""

        def last(policy: "PlainPolicy") -> list[eqx.nn.Linear]:
            return policy.embed_state.last_layers() if policy.head is None else [policy.head]

        return eqx.tree_at(last, self, jax.tree.map(jnp.zeros_like, last(self)))


def weight_mask(module: PyTree[Any]) -> PyTree[bool]:
    """Mark the arrays that are weights; others, such as an embedding's mean, are data."""

    def is_layer(node: Any) -> bool:
        return isinstance(node, eqx.nn.Linear | eqx.nn.Conv2d)

    return jax.tree.map(
        lambda node: jax.tree.map(eqx.is_inexact_array, node) if is_layer(node) else False,
        module,
        is_leaf=is_layer,
    )


class WeightVector(eqx.Module):
    """Turns policies of one shape into vectors of their weights, and back."""

    like: PlainPolicy

    @property
    def size(self) -> int:
        """How many weights a policy has."""
        return sum(int(np.prod(leaf.shape)) for leaf in self._weights())

    def _weights(self) -> list[Array]:
        return jax.tree.leaves(eqx.filter(self.like, weight_mask(self.like)))

    def flat(self) -> Float[Array, " weight"]:
        """The weights of `like`."""
        return jnp.concatenate([jnp.ravel(leaf) for leaf in self._weights()])

    def policy(self, weights: Float[Array, " weight"]) -> PlainPolicy:
        """The policy with these weights; everything else is as in `like`."""
        own, rest = eqx.partition(self.like, weight_mask(self.like))
        leaves, structure = jax.tree.flatten(own)
        ends = np.cumsum([int(np.prod(leaf.shape)) for leaf in leaves])[:-1].tolist()
        parts = jnp.split(weights, ends)
        shaped = [part.reshape(leaf.shape) for part, leaf in zip(parts, leaves, strict=True)]
        policy: PlainPolicy = eqx.combine(jax.tree.unflatten(structure, shaped), rest)
        return policy
