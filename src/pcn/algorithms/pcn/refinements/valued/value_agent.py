"""An agent that does what is worth most to it, with exploration mixed in."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Num, PyTree

from pcn.nets.value_network import ValueNetwork
from pcn.rollout import AbstractNoisyAgent, in_a_row
from pcn.types import AnyArray


class ValueAgent(AbstractNoisyAgent):
    """Takes the options of highest weighted value, one in each part of an action."""

    shared: ClassVar[tuple[str, ...]] = ("values", "action_head")

    values: ValueNetwork
    weights: Float[AnyArray, "*episode objective"]

    def wanted(
        self, observation: PyTree[Array], mask: Bool[Array, " choice"] | None
    ) -> tuple[Num[Array, " part"], Bool[Array, ""]]:
        """The best option of those that the mask allows."""
        numbers = in_a_row(observation)
        if mask is not None:
            numbers = jnp.concatenate([numbers, mask.astype(jnp.float32)])
        utilities = self.values.utilities(numbers, self.weights)
        return self.action_head.greedy(utilities), jnp.asarray(True)
