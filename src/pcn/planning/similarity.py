"""Which known state is most similar to one of which nothing is known."""

import numpy as np
from jaxtyping import Bool, Float, Int


def most_similar(
    numbers: Float[np.ndarray, "state number"], acted: Bool[np.ndarray, " state"]
) -> Int[np.ndarray, " state"]:
    """For each state the nearest one that is marked; a marked state is its own.

    Differences count in standard deviations of each number.
    """
    from scipy.spatial import cKDTree  # few trainings need it, and it takes a while

    size = numbers.std(axis=0)
    scaled = numbers / np.where(size > 0, size, 1.0)
    known, other = np.flatnonzero(acted), np.flatnonzero(~acted)
    nearest = np.arange(len(numbers))
    nearest[other] = known[cKDTree(scaled[known]).query(scaled[other], p=1)[1]]
    return nearest
