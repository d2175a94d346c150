"""What was passed before: the same observation with the same return brings no other way."""

import numpy as np
from jaxtyping import Bool, Float, UInt64

from pcn.fingerprints import row_fingerprints

MOST_PASSED = 1_000_000
"""Beyond so many fingerprints all are forgotten, which keeps the memory flat."""


class Passed:
    """Which observations were passed with which returns, as fingerprints."""

    def __init__(self) -> None:
        self._prints: set[int] = set()

    def new_mask(self, prints: UInt64[np.ndarray, " step"]) -> Bool[np.ndarray, " step"]:
        """Mark the fingerprints that are new, and note them; of equal ones the first is marked."""
        known = self._prints
        if len(known) > MOST_PASSED:
            known.clear()
        new = np.zeros(len(prints), dtype=bool)
        for step, one in enumerate(prints.tolist()):
            if one not in known:
                known.add(one)
                new[step] = True
        return new

    def to_array(self) -> UInt64[np.ndarray, " passed"]:
        """All fingerprints, for a checkpoint."""
        return np.sort(np.fromiter(self._prints, np.uint64, len(self._prints)))

    def from_array(self, array: UInt64[np.ndarray, " passed"]) -> None:
        """Take over what `to_array` gave."""
        self._prints = set(array.tolist())


def passing_prints(
    observations: Float[np.ndarray, "step part"],
    vectors: Float[np.ndarray, "step objective"],
    *,
    seed: int,
) -> UInt64[np.ndarray, " step"]:
    """A fingerprint of each observation and its return; another seed for another kind of return."""
    # Float32: what was added up in another order differs in the last digits of float64.
    rows = np.column_stack([observations, vectors]).astype(np.float32).astype(np.float64)
    return row_fingerprints(rows + 0.0, seed=seed)  # + 0.0: minus zero has other bits
