"""Replay: remembered steps from which values are learnt, and what follows after each of them."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pcn.planning.seen_steps import Steps


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

    observations: Float[Array, "step number"]
    options: Int[Array, " step"]
    rewards: Float[Array, "step objective"]
    next_observations: Float[Array, "step number"]
    terminated: Bool[Array, " step"]
    left: Int[Array, " step"]
    """Steps of the same episode from this one on, itself included."""

    @classmethod
    def of(cls, steps: Steps, room: int) -> "Replay":
        """The steps with zeros behind them, so that there are `room`."""
        return cls(
            *(
                jnp.asarray(np.pad(column, [(0, room - len(steps)), *[(0, 0)] * (column.ndim - 1)]))
                for column in (
                    steps.observations,
                    steps.options,
                    steps.rewards,
                    steps.next_observations,
                    steps.terminated,
                    steps_left(steps.first),
                )
            )
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


def steps_left(first: Bool[np.ndarray, " step"]) -> Int[np.ndarray, " step"]:
    """Steps of the same episode from each one on, itself included.

    >>> steps_left(np.array([True, False, False, True, False])).tolist()
    [3, 2, 1, 2, 1]
    """
    begins = np.append(np.flatnonzero(first), len(first))
    index = np.arange(len(first))
    return (begins[np.searchsorted(begins, index, side="right")] - index).astype(np.int32)
