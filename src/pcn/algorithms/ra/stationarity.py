"""Test for Pareto stationarity: the minimum-norm point of the gradients."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

ITERATIONS = 100


def minimum_norm_weights(gram: Float[Array, "objective too"]) -> Float[Array, " objective"]:
    """Weights on the simplex for which the weighted sum of gradients is shortest.

    `gram` holds the gradients' inner products. Frank-Wolfe with an exact line search, and with
    steps away from a bad corner: without those it crawls when the answer lies on an edge.
    """
    size = gram.shape[0]

    def step(_: Any, weights: Float[Array, " objective"]) -> Float[Array, " objective"]:
        slope = gram @ weights
        value = weights @ slope
        best = jnp.argmin(slope)
        worst = jnp.argmax(jnp.where(weights > 0, slope, -jnp.inf))
        towards = jax.nn.one_hot(best, size) - weights
        away = weights - jax.nn.one_hot(worst, size)
        leaves = slope[worst] - value > value - slope[best]
        direction = jnp.where(leaves, away, towards)
        share = weights[worst]
        furthest = jnp.where(leaves, share / jnp.maximum(1 - share, 1e-12), 1.0)
        curvature = direction @ gram @ direction
        wanted = -(direction @ slope) / jnp.maximum(curvature, 1e-12)
        moved = weights + jnp.clip(wanted, 0.0, furthest) * direction
        moved = jnp.maximum(moved, 0.0)
        return moved / jnp.sum(moved)

    return jax.lax.fori_loop(0, ITERATIONS, step, jnp.full(size, 1 / size))


def ascent_norm(gradients: Float[Array, "objective weight"]) -> Float[Array, ""]:
    """Length of the shortest convex combination of the normalised gradients, at most one.

    Zero where the point is Pareto-stationary: no direction improves every objective. An objective
    without a gradient is left out, because it is not known yet whether it can improve: a rare
    reward that no episode has met looks like one that cannot be reached. If no objective has a
    gradient, the length is one.
    """
    # Divide by the largest entry first: the squares of small numbers would be zero.
    largest = jnp.max(jnp.abs(gradients), axis=1, keepdims=True)
    known = largest > 0
    gradients = gradients / jnp.where(known, largest, 1.0)
    lengths = jnp.linalg.norm(gradients, axis=1, keepdims=True)
    unit = gradients / jnp.where(known, lengths, 1.0)
    # A known gradient once more in the place of an unknown one changes no mixture's length.
    unit = jnp.where(known, unit, unit[jnp.argmax(known)])
    gram = unit @ unit.T
    weights = minimum_norm_weights(gram)
    shortest = jnp.sqrt(jnp.maximum(weights @ gram @ weights, 0.0))
    return jnp.where(jnp.any(known), shortest, 1.0)
