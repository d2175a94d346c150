"""Value network: the expected return of each option of an action, for weights of the objectives."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from pcn.types import AnyArray

HIDDEN_LAYERS = 2
FORBIDDEN = -1e9
"""The utility of options that a mask forbids."""


class ValueNetwork(eqx.Module):
    """The expected return of each option under the policy that is best for given weights.

    An action has one part or several, and each part is one option of some. The value of an action
    is the sum of its options' values, so that the best action has the best option in each part:
    Seyde et al., "Solving continuous control via Q-learning", 2023, arXiv:2210.12566. Options of
    all parts lie side by side, as the outputs of an action head do.

    Observations are vectors of real numbers; where actions are `masked`, the last of them are the
    mask: 1 for each option that is allowed, and 0 for the others. Values are in units: an
    objective's return is its value times its unit. Weights refer to extents: an objective of twice
    the extent has returns that differ by twice as much for the same weight. Batch with `jax.vmap`.
    """

    network: eqx.nn.MLP
    mean: Float[Array, " number"]
    """Mean and deviation of the observations."""
    deviation: Float[Array, " number"]
    unit: Float[Array, " objective"]
    extent: Float[Array, " objective"]
    sizes: tuple[int, ...] = eqx.field(static=True)
    """How many options each part of an action has."""
    normalises: bool = eqx.field(static=True)
    """Whether the outputs of hidden layers are normalised before they are rectified."""
    masked: bool = eqx.field(static=True)
    """Whether the last numbers of an observation say which options are allowed."""

    def __init__(
        self,
        mean: Float[AnyArray, " number"],
        deviation: Float[AnyArray, " number"],
        unit: Float[AnyArray, " objective"],
        *,
        sizes: tuple[int, ...],
        width: int,
        normalises: bool,
        masked: bool = False,
        key: PRNGKeyArray,
    ) -> None:
        """The extent of each objective is one unit at first; it may be set later."""
        self.mean, self.deviation = jnp.asarray(mean), jnp.asarray(deviation)
        self.unit = self.extent = jnp.asarray(unit)
        self.sizes, self.normalises, self.masked = sizes, normalises, masked
        inputs, outputs = len(mean) + len(unit), sum(sizes) * len(unit)
        self.network = eqx.nn.MLP(inputs, outputs, width, HIDDEN_LAYERS, key=key)

    def __call__(
        self, observation: Float[AnyArray, " number"], weights: Float[AnyArray, " objective"]
    ) -> Float[Array, "option objective"]:
        """The value of each option, if the best policy for the weights acts afterwards."""
        # These are data, not weights: without this, gradients would change them.
        mean, deviation = jax.lax.stop_gradient((self.mean, self.deviation))
        seen = (observation - mean) / deviation
        numbers = jnp.concatenate([seen, weights])
        *hidden, last = self.network.layers
        for layer in hidden:
            outputs = layer(numbers)
            numbers = jax.nn.relu(_normalised(outputs) if self.normalises else outputs)
        return last(numbers).reshape(sum(self.sizes), len(self.unit))

    def weighed(
        self,
        values: Float[Array, "option objective"],
        weights: Float[AnyArray, " objective"],
    ) -> Float[Array, " option"]:
        """The weighted sum of each value, in extents."""
        return values @ (weights * self.unit / self.extent)

    def utilities(
        self, observation: Float[AnyArray, " number"], weights: Float[AnyArray, " objective"]
    ) -> Float[Array, " option"]:
        """The weighted sum of each option's value, in extents; very low for forbidden options."""
        utilities = self.weighed(self(observation, weights), weights)
        if not self.masked:
            return utilities
        return jnp.where(observation[-sum(self.sizes) :] > 0, utilities, FORBIDDEN)

    def best(self, utilities: Float[Array, " option"]) -> Float[Array, " option"]:
        """1 for the best option of each part, 0 for all others."""
        begins = [sum(self.sizes[:part]) for part in range(len(self.sizes))]
        parts = zip(begins, self.sizes, strict=True)
        return jnp.concatenate(
            [jax.nn.one_hot(utilities[at : at + size].argmax(), size) for at, size in parts]
        )

    def taken(self, action: Int[Array, ""]) -> Float[Array, " option"]:
        """1 for each option of an action, 0 for all others; all parts are given as one number."""
        indices = jnp.unravel_index(action, self.sizes)
        parts = zip(indices, self.sizes, strict=True)
        return jnp.concatenate([jax.nn.one_hot(index, size) for index, size in parts])

    def rescaled(
        self, unit: Float[AnyArray, " objective"], extent: Float[AnyArray, " objective"]
    ) -> "ValueNetwork":
        """The same returns in other units, for weights that refer to other extents.

        Hasselt et al., "Learning values across many orders of magnitude", 2016, arXiv:1602.07714.
        """
        new, last = jnp.asarray(unit), self.network.layers[-1]
        assert last.bias is not None
        factor = jnp.tile(self.unit / new, sum(self.sizes))
        changed: ValueNetwork = eqx.tree_at(
            lambda one: (
                one.network.layers[-1].weight,
                one.network.layers[-1].bias,
                one.unit,
                one.extent,
            ),
            self,
            (last.weight * factor[:, None], last.bias * factor, new, jnp.asarray(extent)),
        )
        return changed


def _normalised(numbers: Float[Array, " width"]) -> Float[Array, " width"]:
    """The numbers shifted and scaled to mean 0 and variance 1 (layer norm).

    Without it values that are updated often diverge or lose the ability to learn: Lyle et al.,
    "Disentangling the causes of plasticity loss in neural networks", 2024, arXiv:2402.18762.
    """
    centred = numbers - numbers.mean()
    return centred * jax.lax.rsqrt(jnp.square(centred).mean() + 1e-5)
