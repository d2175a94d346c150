"""Policy gradients: one for each objective, from the episodes of one policy."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pcn.episodes import Episodes
from pcn.nets.plain_policy import WeightVector
from pcn.types import AnyArray


def advantages(
    episodes: Episodes, *, discount: Float[AnyArray, ""] | float
) -> Float[Array, "episode time objective"]:
    """Returns-to-go beyond the mean of all episodes that are still running at that time.

    The mean is a baseline: it takes variance out of the gradient and, as it does not depend on
    the action, hardly anything else (an episode is part of its own mean).
    """
    running = episodes.valid_mask[:, :, None]
    returns = episodes.returns_to_go(discount=discount)
    total = jnp.sum(jnp.where(running, returns, 0.0), axis=0, keepdims=True)
    baseline = total / jnp.maximum(jnp.sum(running, axis=0, keepdims=True), 1)
    weights = discount ** jnp.arange(returns.shape[1], dtype=jnp.float32)
    return jnp.where(running, (returns - baseline) * weights[None, :, None], 0.0)


class PolicyGradients(eqx.Module):
    """The gradients of one policy, computed from its episodes."""

    vector: WeightVector
    episodes: Episodes

    def _outputs(self, weights: Float[Array, " weight"]) -> Float[Array, "episode time output"]:
        policy = self.vector.policy(weights)
        outputs = jax.vmap(jax.vmap(policy))(self.episodes.observations)
        masks = self.episodes.action_masks
        if masks is None:
            return outputs
        # Steps after an episode's end allow no action, and must not lead to a division by zero.
        allowed = jnp.asarray(masks) | ~self.episodes.valid_mask[:, :, None]
        return jax.vmap(jax.vmap(policy.action_head.masked))(outputs, allowed)

    def log_probabilities(self, weights: Float[Array, " weight"]) -> Float[Array, "episode time"]:
        """Log-probabilities of the actions that were taken."""
        of_step = self.vector.like.action_head.log_probability
        return jax.vmap(jax.vmap(of_step))(
            self._outputs(weights), jnp.asarray(self.episodes.actions)
        )

    def jacobian(
        self,
        weights: Float[Array, " weight"],
        advantages: Float[Array, "episode time objective"],
    ) -> Float[Array, "objective weight"]:
        """The gradient of every objective's expected return: one backward pass for each."""
        _, pull = jax.vjp(self.log_probabilities, weights)
        shares = advantages / advantages.shape[0]
        return jax.vmap(lambda share: pull(share)[0], in_axes=-1)(shares)

    def entropy(self, weights: Float[Array, " weight"]) -> Float[Array, ""]:
        """The mean entropy of the policy over the steps that were taken, in nats."""
        of_step = jax.vmap(jax.vmap(self.vector.like.action_head.entropy))(self._outputs(weights))
        return self._mean(of_step)

    def divergence(
        self, weights: Float[Array, " weight"], other: Float[Array, " weight"]
    ) -> Float[Array, ""]:
        """Mean Kullback-Leibler divergence of another policy's actions from this one's."""
        of_step = jax.vmap(jax.vmap(self.vector.like.action_head.divergence))
        return self._mean(of_step(self._outputs(weights), self._outputs(other)))

    def natural_step(
        self,
        weights: Float[Array, " weight"],
        gradient: Float[Array, " weight"],
        kl_bound: Float[AnyArray, ""] | float,
        *,
        conjugate_steps: int,
        damping: float,
    ) -> Float[Array, " weight"]:
        """The step along F⁻¹ gradient whose divergence is, to second order, `kl_bound`.

        F is the Fisher matrix of the policy's actions: the curvature of the divergence.
        """
        slope = jax.grad(lambda other: self.divergence(weights, other))

        def fisher(direction: Float[Array, " weight"]) -> Float[Array, " weight"]:
            return jax.jvp(slope, (weights,), (direction,))[1] + damping * direction

        direction, _ = jax.scipy.sparse.linalg.cg(fisher, gradient, maxiter=conjugate_steps)
        curvature = direction @ fisher(direction)
        return direction * jnp.sqrt(2 * kl_bound / jnp.maximum(curvature, 1e-12))

    def _mean(self, values: Float[Array, "episode time"]) -> Float[Array, ""]:
        running = self.episodes.valid_mask
        return jnp.sum(jnp.where(running, values, 0.0)) / jnp.maximum(jnp.sum(running), 1)
