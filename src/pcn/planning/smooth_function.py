"""A smooth function of observation and action, fitted to all steps at once.

A small network averages out noise over all steps and all actions, which a fit to the nearest steps
cannot. What it does not foresee is left to such fits.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from pcn.types import AnyArray

_PART = 16_384
"""Rows in one compiled call."""
_WIDTH, _BATCH_SIZE, _LEARNING_RATE = 64, 512, 3e-3
"""Units of both hidden layers; rows of an update; the first learning rate, which falls to zero."""


class SmoothFunction(eqx.Module):
    """Two hidden layers from standardised inputs to standardised outputs."""

    layers: eqx.nn.MLP
    mean: Float[AnyArray, " input"]
    deviation: Float[AnyArray, " input"]
    output_mean: Float[AnyArray, " output"]
    output_deviation: Float[AnyArray, " output"]
    """Zero for what is always the same: then it is foreseen exactly."""

    def __call__(self, row: Float[Array, " input"]) -> Float[Array, " output"]:
        """The outputs of one row."""
        outputs = self.layers((row - self.mean) / self.deviation)
        return outputs * self.output_deviation + self.output_mean

    def at(self, rows: Float[np.ndarray, "row input"]) -> Float[np.ndarray, "row output"]:
        """The outputs of many rows."""
        parts = []
        for start in range(0, len(rows), _PART):
            part = rows[start : start + _PART].astype(np.float32)
            outputs = _outputs(self, np.pad(part, [(0, _PART - len(part)), (0, 0)]))
            parts.append(np.asarray(outputs)[: len(part)])
        return np.concatenate(parts).astype(np.float64)


@eqx.filter_jit
def _outputs(
    function: SmoothFunction, rows: Float[AnyArray, "row input"]
) -> Float[Array, "row output"]:
    return jax.vmap(function)(jnp.asarray(rows))


def fit_smooth_function(
    rows: Float[np.ndarray, "row input"],
    outputs: Float[np.ndarray, "row output"],
    rng: np.random.Generator,
    *,
    updates: int,
) -> SmoothFunction:
    """The function that fits best in the mean of squares, after so many updates."""
    key = jax.random.PRNGKey(int(rng.integers(1 << 31)))
    deviation = rows.std(axis=0)
    units = (
        rows.mean(axis=0),
        np.where(deviation > 0, deviation, 1.0),
        outputs.mean(axis=0),
        outputs.std(axis=0),
    )
    layers = eqx.nn.MLP(rows.shape[1], outputs.shape[1], _WIDTH, 2, key=key)
    progress = np.arange(updates) / updates
    room = 1 << (len(rows) - 1).bit_length()  # so that later fits share the compiled program
    padding = [(0, room - len(rows)), (0, 0)]
    return _fitted(
        SmoothFunction(layers, *(one.astype(np.float32) for one in units)),
        np.pad(rows.astype(np.float32), padding),
        np.pad(outputs.astype(np.float32), padding),
        rng.integers(len(rows), size=(updates, _BATCH_SIZE)).astype(np.int32),
        (_LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * progress))).astype(np.float32),
    )


@eqx.filter_jit
def _fitted(
    function: SmoothFunction,
    rows: Float[AnyArray, "row input"],
    outputs: Float[AnyArray, "row output"],
    index: Int[AnyArray, "update batch"],
    rates: Float[AnyArray, " update"],
) -> SmoothFunction:
    """The function after one update after the other."""
    optimiser = optax.scale_by_adam()
    weights, static = eqx.partition(function.layers, eqx.is_inexact_array)
    rows, outputs = jnp.asarray(rows), jnp.asarray(outputs)
    deviation = jnp.asarray(function.output_deviation)
    units = jnp.where(deviation > 0, deviation, 1.0)[None]

    def with_layers(weights: Any) -> SmoothFunction:
        layers = eqx.combine(weights, static)
        whole: SmoothFunction = eqx.tree_at(lambda one: one.layers, function, layers)
        return whole

    def loss(weights: Any, place: Int[Array, " batch"]) -> Float[Array, ""]:
        miss = jax.vmap(with_layers(weights))(rows[place]) - outputs[place]
        return jnp.mean((miss / units) ** 2)

    def update(carry: Any, inputs: Any) -> tuple[Any, None]:
        weights, moments = carry
        place, rate = inputs
        directions, moments = optimiser.update(jax.grad(loss)(weights, place), moments)
        steps = jax.tree.map(lambda direction: -rate * direction, directions)
        return (eqx.apply_updates(weights, steps), moments), None

    inputs = jnp.asarray(index), jnp.asarray(rates)
    (weights, _), _ = jax.lax.scan(update, (weights, optimiser.init(weights)), inputs)
    return with_layers(weights)
