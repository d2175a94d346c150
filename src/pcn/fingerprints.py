"""Fingerprints: observations as numbers, equal for equal observations."""

from functools import lru_cache

import jax
import numpy as np
from jaxtyping import Float, PyTree, UInt64

from pcn.types import AnyArray


def fingerprints(
    observations: PyTree[AnyArray], num_steps: int
) -> UInt64[np.ndarray, "episode time"]:
    """A number per observation of the first steps, equal for equal observations."""
    total: UInt64[np.ndarray, "episode time"] | np.uint64 = np.uint64(0)
    for number, leaf in enumerate(jax.tree.leaves(observations)):
        values = np.asarray(leaf)[:, :num_steps]
        flat = values.reshape(*values.shape[:2], -1).astype(np.float64)
        total = total * np.uint64(31) + row_fingerprints(flat, seed=number)
    return np.asarray(total)


def row_fingerprints(
    rows: Float[np.ndarray, "*row part"], *, seed: int = 0
) -> UInt64[np.ndarray, "*row"]:
    """A number per row of float64 numbers, equal for equal bits; another seed, other numbers."""
    bits = np.ascontiguousarray(rows).view(np.uint64)
    mixed = (bits ^ (bits >> np.uint64(29))) * _factors(bits.shape[-1], seed)
    prints: UInt64[np.ndarray, "*row"] = (mixed ^ (mixed >> np.uint64(32))).sum(axis=-1)
    return prints


@lru_cache(maxsize=32)
def _factors(count: int, seed: int) -> UInt64[np.ndarray, " part"]:
    drawn = np.random.default_rng(seed).integers(1, 1 << 63, size=count, dtype=np.uint64)
    return drawn | np.uint64(1)
