"""The network of section 4.2: a state embedding gated by an embedding of the command."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from pcn.command import Command
from pcn.nets.embeddings import AbstractStateEmbedding
from pcn.nets.expectations import Expectations
from pcn.nets.heads import AbstractActionHead

Gate = Literal["sigmoid", "film"]
"""`sigmoid`: the paper's sigmoid(state) * sigmoid(command). `film`: relu(state) * (1 + command)."""

MOST_GROWTH = 8.0
"""By how much the range of a part of commands may grow at once for the old function to be kept."""


class ConditionedPolicy(eqx.Module):
    """Turns observation and command into outputs for the action head; batch with `jax.vmap`."""

    embed_state: AbstractStateEmbedding
    embed_command: eqx.nn.Linear
    head: eqx.nn.MLP
    command_scale: Float[Array, " command"]
    action_head: AbstractActionHead
    gate: Gate = eqx.field(static=True)
    expectations: Expectations | None
    """The expectations that change its commands while it acts; None where commands follow the
    rewards."""

    def __init__(
        self,
        embed_state: AbstractStateEmbedding,
        action_head: AbstractActionHead,
        *,
        num_objectives: int,
        width: int,
        hidden_layers: int,
        gate: Gate,
        key: PRNGKeyArray,
    ) -> None:
        command_key, head_key = jax.random.split(key)
        self.embed_state = embed_state
        self.embed_command = eqx.nn.Linear(num_objectives + 1, width, key=command_key)
        self.head = eqx.nn.MLP(width, action_head.num_outputs, width, hidden_layers, key=head_key)
        self.command_scale = jnp.ones(num_objectives + 1)
        self.action_head = action_head
        self.gate = gate
        self.expectations = None

    def __call__(self, observation: PyTree[Array], command: Command) -> Float[Array, " output"]:
        """The outputs that `action_head` turns into an action, such as logits."""
        # The scale is data, not a weight: without this, filter_grad would train it.
        scale = jax.lax.stop_gradient(self.command_scale)
        numbers = jnp.append(command.desired_return, command.desired_horizon)
        state = self.embed_state(observation)
        embedded = self.embed_command(scale * numbers)
        if self.gate == "sigmoid":
            return self.head(jax.nn.sigmoid(state) * jax.nn.sigmoid(embedded))
        return self.head(jax.nn.relu(state) * (1.0 + embedded))

    def expecting(self, expectations: Expectations) -> "ConditionedPolicy":
        """The same network, whose commands follow its expectations."""
        return eqx.tree_at(
            lambda policy: policy.expectations,
            self,
            expectations,
            is_leaf=lambda node: node is None,
        )

    def rescaled(self, command_scale: Float[Array, " command"]) -> "ConditionedPolicy":
        """The same function of the command, with another scale in front of its weights.

        Where a range has become more than `MOST_GROWTH` times as wide, the weights are kept
        instead: those of the old function would be so large that it could hardly be changed.
        """
        weight = self.embed_command.weight * self.weight_ratio(command_scale)[None, :]
        return eqx.tree_at(
            lambda policy: (policy.embed_command.weight, policy.command_scale),
            self,
            (weight, command_scale),
        )

    def weight_ratio(self, command_scale: Float[Array, " command"]) -> Float[Array, " command"]:
        """By how much another scale changes the weights of each part of a command."""
        ratio = self.command_scale / command_scale
        return jnp.where(ratio > MOST_GROWTH, 1.0, ratio)
