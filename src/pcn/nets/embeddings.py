"""State embeddings: from an observation to the vector that is gated by the command."""

import math
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Num, PRNGKeyArray, PyTree

from pcn.typing import AnyArray


class AbstractStateEmbedding(eqx.Module):
    """One observation in, `width` numbers out; the policy applies the last activation."""

    @abstractmethod
    def __call__(self, observation: PyTree[Array]) -> Float[Array, " width"]:
        """Embed one observation."""

    def fitted(self, observations: PyTree[AnyArray]) -> "AbstractStateEmbedding":
        """The embedding made ready for inputs like these [observation, ...]; most need nothing."""
        del observations
        return self


class OneHotEmbedding(AbstractStateEmbedding):
    """Integers in fixed ranges: one learned row for each value of each, added up.

    `joint` gives every combination of values its own row (a table of states).
    """

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

    def __call__(self, observation: Int[Array, "*shape"]) -> Float[Array, " width"]:
        """Embed one vector of integers."""
        values = jnp.ravel(observation).astype(jnp.int32) - jnp.asarray(self.starts, jnp.int32)
        if self.joint:
            row = jnp.int32(0)
            for value, size in zip(values, self.sizes, strict=True):
                row = row * size + value
            return self.linear(jax.nn.one_hot(row, math.prod(self.sizes)))
        hots = [jax.nn.one_hot(value, size) for value, size in zip(values, self.sizes, strict=True)]
        return self.linear(jnp.concatenate(hots))


class VectorEmbedding(AbstractStateEmbedding):
    """Real numbers, standardised by the mean and deviation seen in the first episodes."""

    mean: Float[Array, " obs"]
    deviation: Float[Array, " obs"]
    linear: eqx.nn.Linear

    def __init__(self, size: int, width: int, *, key: PRNGKeyArray) -> None:
        self.mean = jnp.zeros(size)
        self.deviation = jnp.ones(size)
        self.linear = eqx.nn.Linear(size, width, key=key)

    def __call__(self, observation: Num[Array, "*shape"]) -> Float[Array, " width"]:
        """Embed one vector."""
        # Data, not weights: they must not be trained.
        mean, deviation = jax.lax.stop_gradient((self.mean, self.deviation))
        values = jnp.ravel(observation).astype(jnp.float32)
        return self.linear((values - mean) / deviation)

    def fitted(self, observations: PyTree[AnyArray]) -> "VectorEmbedding":
        """Standardise by these observations; a number that never changes is only shifted."""
        values = np.asarray(observations, dtype=np.float64).reshape(len(observations), -1)
        deviation = values.std(axis=0)
        deviation = np.where(deviation > 1e-6, deviation, 1.0)
        return eqx.tree_at(
            lambda embedding: (embedding.mean, embedding.deviation),
            self,
            (jnp.asarray(values.mean(axis=0), jnp.float32), jnp.asarray(deviation, jnp.float32)),
        )
