"""The pool of MONES: what the draws of the last generations returned."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pcn.algorithms.mones.config import MONESConfig
from pcn.algorithms.mones.search_distribution import AbstractSearchDistribution
from pcn.memory import refuse_without_memory
from pcn.types import AnyArray


class Pool(eqx.Module):
    """The draws of the last generations, the newest first, and what they were drawn from."""

    sources: AbstractSearchDistribution
    """A stack: one distribution for each generation."""
    draws: Float[AnyArray, "generation draw weight"]
    returns: Float[AnyArray, "generation draw objective"]
    lengths: Float[AnyArray, "generation draw"]
    num_known: int
    """Generations that there have been; the others are zeros."""

    @classmethod
    def empty(
        cls, distribution: AbstractSearchDistribution, config: MONESConfig, num_objectives: int
    ) -> "Pool":
        """Room for as many generations as are kept."""
        shape = (config.pool_generations, config.population)
        weight_bytes = distribution.mean.shape[0] * np.dtype(np.float32).itemsize
        refuse_without_memory(
            # Two copies while a generation is added, and the draws that are run at the end.
            (2 * config.pool_generations * config.population + config.final_draws) * weight_bytes,
            f"MONES with a population of {config.population:,}, {config.pool_generations:,} "
            f"generations and {config.final_draws:,} final draws of {weight_bytes:,} bytes",
            "give less of them",
        )
        sources = jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (config.pool_generations, *leaf.shape)),
            distribution,
        )
        draws = np.zeros((*shape, distribution.mean.shape[0]), np.float32)
        return cls(sources, draws, np.zeros((*shape, num_objectives)), np.zeros(shape), 0)

    def adding(
        self,
        source: AbstractSearchDistribution,
        draws: Float[Array, "draw weight"],
        returns: Float[np.ndarray, "draw objective"],
        lengths: Float[np.ndarray, " draw"],
    ) -> "Pool":
        """The pool with a new generation in the place of the oldest."""

        def newest_first(old: AnyArray, new: AnyArray) -> AnyArray:
            return np.concatenate([np.asarray(new)[None], np.asarray(old)[:-1]])

        return Pool(
            jax.tree.map(newest_first, self.sources, source),
            newest_first(self.draws, draws),
            newest_first(self.returns, returns),
            newest_first(self.lengths, lengths),
            min(self.num_known + 1, len(self.draws)),
        )

    def known_returns(self) -> Float[np.ndarray, "draw objective"]:
        """The returns of all draws that there have been."""
        returns = np.asarray(self.returns[: self.num_known])
        return returns.reshape(-1, returns.shape[-1])

    def known_lengths(self) -> Float[np.ndarray, " draw"]:
        """The lengths of their episodes."""
        return np.asarray(self.lengths[: self.num_known]).ravel()
