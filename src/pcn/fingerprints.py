"""Fingerprints: a number for each observation, equal for equal observations."""

from functools import lru_cache

import jax
import numpy as np
from jaxtyping import Float, PyTree, Shaped, UInt64

from pcn.types import AnyArray

MOST_NUMBERS = 1 << 20
"""How many numbers are converted at a time."""


def fingerprints(
    observations: PyTree[AnyArray], num_steps: int
) -> UInt64[np.ndarray, "episode time"]:
    """A number per observation of the first steps, equal for equal observations."""
    total: UInt64[np.ndarray, "episode time"] | np.uint64 = np.uint64(0)
    for number, leaf in enumerate(jax.tree.leaves(observations)):
        total = total * np.uint64(31) + _leaf_fingerprints(np.asarray(leaf)[:, :num_steps], number)
    return np.asarray(total)


def _leaf_fingerprints(
    values: Shaped[np.ndarray, "episode time *part"], seed: int
) -> UInt64[np.ndarray, "episode time"]:
    """The fingerprints of one array, computed in pieces: images of bytes take eight times their
    memory as float64."""
    num_episodes, num_steps = values.shape[:2]
    found = np.zeros((num_episodes, num_steps), np.uint64)
    size = max(1, int(np.prod(values.shape[2:])))
    steps_at_once = max(1, min(num_steps, MOST_NUMBERS // size))
    episodes_at_once = max(1, MOST_NUMBERS // (size * steps_at_once))
    for first in range(0, num_episodes, episodes_at_once):
        for start in range(0, num_steps, steps_at_once):
            place = slice(first, first + episodes_at_once), slice(start, start + steps_at_once)
            piece = values[place].astype(np.float64)
            found[place] = row_fingerprints(piece.reshape(*piece.shape[:2], -1), seed=seed)
    return found


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
