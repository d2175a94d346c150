"""State embeddings turn an observation into the vector that a policy works with."""

import math
from abc import abstractmethod
from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Integer, Num, PRNGKeyArray, PyTree

from pcn.errors import UserError
from pcn.types import AnyArray


class AbstractStateEmbedding(eqx.Module):
    """Turns one observation into `width` numbers; the policy applies the activation to them."""

    one_row_per_value: ClassVar[bool] = False
    """Whether each value of each number in an observation has its own weight."""

    @abstractmethod
    def __call__(self, observation: PyTree[Array]) -> Float[Array, " width"]:
        """Embed one observation."""

    def fitted(self, observations: PyTree[AnyArray]) -> "AbstractStateEmbedding":
        """The embedding scaled for observations like these [observation, ...], if it needs that."""
        del observations
        return self

    @abstractmethod
    def last_layers(self) -> list[eqx.nn.Linear]:
        """The layers whose outputs, added up, are the embedding."""


class OneHotEmbedding(AbstractStateEmbedding):
    """Embeds integers in fixed ranges: each value has a row of weights, and rows are added up.

    With `joint`, every combination of values has a row of its own (a table of states).
    """

    one_row_per_value: ClassVar[bool] = True

    sizes: tuple[int, ...] = eqx.field(static=True)
    starts: tuple[int, ...] = eqx.field(static=True)
    """The smallest value of each integer."""
    joint: bool = eqx.field(static=True)
    linear: eqx.nn.Linear

    def __init__(
        self,
        sizes: tuple[int, ...],
        width: int,
        *,
        starts: tuple[int, ...] | None = None,
        joint: bool = False,
        key: PRNGKeyArray,
    ) -> None:
        self.sizes = sizes
        self.starts = (0,) * len(sizes) if starts is None else starts
        self.joint = joint
        num_rows = math.prod(sizes) if joint else sum(sizes)
        self.linear = eqx.nn.Linear(num_rows, width, key=key)

    def __call__(self, observation: Integer[Array, "*shape"]) -> Float[Array, " width"]:
        """Embed one vector of integers."""
        values = jnp.ravel(observation).astype(jnp.int32) - jnp.asarray(self.starts, jnp.int32)
        if self.joint:
            row = jnp.int32(0)
            for value, size in zip(values, self.sizes, strict=True):
                row = row * size + value
            return self.linear(jax.nn.one_hot(row, math.prod(self.sizes)))
        hots = [jax.nn.one_hot(value, size) for value, size in zip(values, self.sizes, strict=True)]
        return self.linear(jnp.concatenate(hots))

    def last_layers(self) -> list[eqx.nn.Linear]:
        """The table of rows."""
        return [self.linear]


class VectorEmbedding(AbstractStateEmbedding):
    """Embeds real numbers, standardised by their mean and deviation in the first episodes."""

    mean: Float[Array, " obs"]
    deviation: Float[Array, " obs"]
    linear: eqx.nn.Linear

    def __init__(self, size: int, width: int, *, key: PRNGKeyArray) -> None:
        self.mean = jnp.zeros(size)
        self.deviation = jnp.ones(size)
        self.linear = eqx.nn.Linear(size, width, key=key)

    def __call__(self, observation: Num[Array, "*shape"]) -> Float[Array, " width"]:
        """Embed one vector."""
        # Mean and deviation are data, not weights: they must not be trained.
        mean, deviation = jax.lax.stop_gradient((self.mean, self.deviation))
        values = jnp.ravel(observation).astype(jnp.float32)
        return self.linear((values - mean) / deviation)

    def last_layers(self) -> list[eqx.nn.Linear]:
        """The only layer."""
        return [self.linear]

    def fitted(self, observations: PyTree[AnyArray]) -> "VectorEmbedding":
        """Standardise by these observations; a number that never changes is only shifted."""
        values = np.asarray(observations, dtype=np.float64).reshape(len(observations), -1)
        deviation = values.std(axis=0)
        constant = deviation <= 1e-7 * np.abs(values).max(axis=0, initial=0.0)
        deviation = np.where(constant, 1.0, deviation)
        return eqx.tree_at(
            lambda embedding: (embedding.mean, embedding.deviation),
            self,
            (jnp.asarray(values.mean(axis=0), jnp.float32), jnp.asarray(deviation, jnp.float32)),
        )


class PictureEmbedding(AbstractStateEmbedding):
    """Embeds small pictures [channel, height, width] of bytes by two convolutions and a layer."""

    layers: tuple[eqx.nn.Conv2d, eqx.nn.Conv2d]
    linear: eqx.nn.Linear

    def __init__(self, shape: tuple[int, int, int], width: int, *, key: PRNGKeyArray) -> None:
        first_key, second_key, linear_key = jax.random.split(key, 3)
        channels = shape[0]
        self.layers = (
            eqx.nn.Conv2d(channels, 16, kernel_size=6, stride=4, key=first_key),
            eqx.nn.Conv2d(16, 32, kernel_size=3, stride=2, key=second_key),
        )
        seen = jax.eval_shape(partial(_convolved, self.layers), jnp.zeros(shape))
        self.linear = eqx.nn.Linear(seen.size, width, key=linear_key)

    def __call__(self, observation: Num[Array, "channel row column"]) -> Float[Array, " width"]:
        """Embed one picture."""
        picture = observation.astype(jnp.float32) / 255.0
        return self.linear(jnp.ravel(_convolved(self.layers, picture)))

    def last_layers(self) -> list[eqx.nn.Linear]:
        """The layer after the convolutions."""
        return [self.linear]


def _convolved(
    layers: tuple[eqx.nn.Conv2d, ...], picture: Float[Array, "channel row column"]
) -> Float[Array, "..."]:
    for layer in layers:
        picture = jax.nn.relu(layer(picture))
    return picture


class StripEmbedding(AbstractStateEmbedding):
    """Embeds low pictures [channel, row, cell] of bytes whose rows are lines, such as lanes.

    Two convolutions along each row, the same for all rows, and a linear layer over all of them.
    """

    PATCH: ClassVar[int] = 4
    """Width and stride of the first convolution, in cells."""

    layers: tuple[eqx.nn.Linear, eqx.nn.Linear]
    linear: eqx.nn.Linear

    def __init__(self, shape: tuple[int, int, int], width: int, *, key: PRNGKeyArray) -> None:
        first_key, second_key, linear_key = jax.random.split(key, 3)
        channels, rows, cells = shape
        num_patches = -(-cells // self.PATCH)
        self.layers = (
            eqx.nn.Linear(channels * self.PATCH, 16, key=first_key),
            eqx.nn.Linear(2 * 16, 16, key=second_key),
        )
        self.linear = eqx.nn.Linear(rows * (num_patches - 1) * 16, width, key=linear_key)

    def __call__(self, observation: Num[Array, "channel row cell"]) -> Float[Array, " width"]:
        """Embed one picture."""
        channels, rows, cells = observation.shape
        picture = jnp.pad(observation, ((0, 0), (0, 0), (0, -cells % self.PATCH)))
        picture = picture.astype(jnp.float32) / 255.0
        patches = picture.reshape(channels, rows, -1, self.PATCH)
        patches = jnp.moveaxis(patches, 0, 2).reshape(rows, -1, channels * self.PATCH)
        # Matrix products over patches: on a CPU, XLA's own convolutions are slower.
        first, second = (jax.vmap(jax.vmap(layer)) for layer in self.layers)
        seen = jax.nn.relu(first(patches))
        pairs = jnp.concatenate([seen[:, :-1], seen[:, 1:]], axis=-1)
        return self.linear(jnp.ravel(jax.nn.relu(second(pairs))))

    def last_layers(self) -> list[eqx.nn.Linear]:
        """The layer after the convolutions."""
        return [self.linear]


class OwnEmbedding(AbstractStateEmbedding):
    """Embeds observations by an Equinox module that the user wrote."""

    module: eqx.Module

    def __call__(self, observation: PyTree[Array]) -> Float[Array, " width"]:
        """Embed one observation."""
        embedded: Float[Array, " width"] = self.module(observation)  # type: ignore[operator]
        return embedded

    def fitted(self, observations: PyTree[AnyArray]) -> "OwnEmbedding":
        """The result of the module's own method `fitted`, if it has one."""
        fitted = getattr(self.module, "fitted", None)
        return self if fitted is None else OwnEmbedding(fitted(observations))

    def last_layers(self) -> list[eqx.nn.Linear]:
        """Raise an error: the last layers of a user's module are not known."""
        raise UserError(
            f"the last layers of {self.module!r} are not known: give the policy a width"
        )


class SumEmbedding(AbstractStateEmbedding):
    """Embeds observations of several parts (Dict, Tuple) by the sum of the parts' embeddings."""

    parts: tuple[AbstractStateEmbedding, ...]

    def __call__(self, observation: PyTree[Array]) -> Float[Array, " width"]:
        """Embed one observation, part by part."""
        pieces = _children(observation)
        return jnp.sum(
            jnp.stack([part(piece) for part, piece in zip(self.parts, pieces, strict=True)]), axis=0
        )

    def fitted(self, observations: PyTree[AnyArray]) -> "SumEmbedding":
        """Every part, scaled for its own observations."""
        pieces = _children(observations)
        return SumEmbedding(
            tuple(part.fitted(piece) for part, piece in zip(self.parts, pieces, strict=True))
        )

    def last_layers(self) -> list[eqx.nn.Linear]:
        """Those of all parts."""
        return [layer for part in self.parts for layer in part.last_layers()]


def _children(observation: PyTree[AnyArray]) -> tuple[PyTree[AnyArray], ...]:
    """The parts of a Dict (by name) or Tuple observation."""
    if isinstance(observation, dict):
        return tuple(observation[name] for name in sorted(observation))
    return tuple(observation)
