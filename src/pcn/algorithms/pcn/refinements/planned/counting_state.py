"""What planning remembers during a training."""

from collections.abc import Mapping

import numpy as np

from pcn.algorithms.pcn.refinements.abstract import AbstractState
from pcn.planning.counting import TransitionCounts


class Counting(AbstractState):
    """The counts of a training, and how often plans were rehearsed."""

    def __init__(self, counts: TransitionCounts) -> None:
        self.counts = counts
        self.rehearsals = 0

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays."""
        return {**self.counts.to_arrays(), "rehearsals": np.array(self.rehearsals)}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.counts.from_arrays(arrays)
        self.rehearsals = int(arrays["rehearsals"])
