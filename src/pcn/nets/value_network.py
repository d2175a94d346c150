"""Value network: the expected return of each option of an action, for weights of the objectives."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pcn.types import AnyArray

HIDDEN_LAYERS = 2


class ValueNetwork(eqx.Module):
    """The expected return of each option under the policy that is best for given weights.

    Observations are vectors of real numbers. Values are in units: an objective's return is its
    value times its unit. Weights refer to extents: an objective of twice the extent has returns
    that differ by twice as much for the same weight. Batch with `jax.vmap`.
    """

    network: eqx.nn.MLP
    mean: Float[Array, " number"]
    """Mean and deviation of the observations."""
    deviation: Float[Array, " number"]
    unit: Float[Array, " objective"]
    extent: Float[Array, " objective"]
    num_options: int = eqx.field(static=True)

    def __init__(
        self,
        mean: Float[AnyArray, " number"],
        deviation: Float[AnyArray, " number"],
        unit: Float[AnyArray, " objective"],
        *,
        num_options: int,
        width: int,
        key: PRNGKeyArray,
    ) -> None:
        """The extent of each objective is one unit at first; it may be set later."""
        self.mean, self.deviation = jnp.asarray(mean), jnp.asarray(deviation)
        self.unit = self.extent = jnp.asarray(unit)
        self.num_options = num_options
        inputs, outputs = len(mean) + len(unit), num_options * len(unit)
        self.network = eqx.nn.MLP(inputs, outputs, width, HIDDEN_LAYERS, key=key)

    def __call__(
        self, observation: Float[AnyArray, " number"], weights: Float[AnyArray, " objective"]
    ) -> Float[Array, "option objective"]:
        """The value of each option, if the best policy for the weights acts afterwards."""
        # These are data, not weights: without this, gradients would change them.
        mean, deviation = jax.lax.stop_gradient((self.mean, self.deviation))
        seen = (observation - mean) / deviation
        outputs = self.network(jnp.concatenate([seen, weights]))
        return outputs.reshape(self.num_options, len(self.unit))

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
        """The weighted sum of each option's value, in extents."""
        return self.weighed(self(observation, weights), weights)

    def rescaled(
        self, unit: Float[AnyArray, " objective"], extent: Float[AnyArray, " objective"]
    ) -> "ValueNetwork":
        """The same returns in other units, for weights that refer to other extents.

        Hasselt et al., "Learning values across many orders of magnitude", 2016, arXiv:1602.07714.
        """
        new, last = jnp.asarray(unit), self.network.layers[-1]
        assert last.bias is not None
        factor = jnp.tile(self.unit / new, self.num_options)
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
