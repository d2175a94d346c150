"""Replay: remembered steps from which values are learnt, and what follows after each of them."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pcn.planning.seen_steps import SeenSteps
from pcn.types import AnyArray


class Outlook(eqx.Module):
    """What some steps and the few steps after them brought, and where they led."""

    observations: Float[Array, "batch number"]
    options: Int[Array, " batch"]
    rewards: Float[Array, "batch objective"]
    """The discounted sum, in units."""
    next_observations: Float[Array, "batch number"]
    discounts: Float[Array, " batch"]
    """What the value of the next observation counts; zero after a terminal state."""


class Replay(eqx.Module):
    """Steps of some episodes in the order in which they were taken, padded at the end."""

    observations: Float[AnyArray, "step number"]
    options: Int[AnyArray, " step"]
    rewards: Float[AnyArray, "step objective"]
    next_observations: Float[AnyArray, "step number"]
    terminated: Bool[AnyArray, " step"]
    left: Int[AnyArray, " step"]
    """Steps of the same episode from this one on, itself included."""

    @classmethod
    def of(cls, seen: SeenSteps) -> "Replay":
        """Everything that is remembered, with zeros behind it; nothing is copied."""
        steps = seen.padded
        return cls(
            steps.observations,
            steps.options,
            steps.rewards,
            steps.next_observations,
            steps.terminated,
            seen.padded_left,
        )

    def at(
        self,
        index: Int[Array, " batch"],
        unit: Float[Array, " objective"],
        *,
        discount: float,
        num_steps: int,
    ) -> Outlook:
        """What the steps at `index` and those after them brought, `num_steps` of them at most."""
        ahead = jnp.minimum(self.left[index], num_steps)
        time = jnp.arange(num_steps)
        later = index[:, None] + jnp.minimum(time[None, :], ahead[:, None] - 1)
        weights = jnp.where(time[None, :] < ahead[:, None], discount ** time[None, :], 0.0)
        last = index + ahead - 1
        return Outlook(
            self.observations[index],
            self.options[index],
            jnp.einsum("bt,bto->bo", weights, self.rewards[later]) / unit[None, :],
            self.next_observations[last],
            jnp.where(self.terminated[last], 0.0, discount**ahead),
        )
