"""Fingerprints: observations as numbers, equal for equal observations."""

import jax
import numpy as np
from jaxtyping import PyTree, UInt64

from pcn.types import AnyArray


def fingerprints(
    observations: PyTree[AnyArray], num_steps: int
) -> UInt64[np.ndarray, "episode time"]:
    """A number per observation of the first steps, equal for equal observations."""
    total = np.uint64(0)
    for number, leaf in enumerate(jax.tree.leaves(observations)):
        values = np.asarray(leaf)[:, :num_steps]
        flat = values.reshape(*values.shape[:2], -1).astype(np.float64).view(np.uint64)
        factors = np.random.default_rng(number).integers(
            1, 1 << 63, size=flat.shape[2], dtype=np.uint64
        )
        mixed = (flat ^ (flat >> np.uint64(29))) * (factors | np.uint64(1))
        total = total * np.uint64(31) + (mixed ^ (mixed >> np.uint64(32))).sum(axis=2)
    return np.asarray(total)
