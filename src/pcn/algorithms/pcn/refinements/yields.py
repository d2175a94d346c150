"""Which of two ways of exploring brings more, and how the steps are shared between them."""

from collections.abc import Mapping

import numpy as np

from pcn.algorithms.pcn.refinements.abstract import AbstractState

LITTLE = 0.01
"""What one more episode would gain where nothing is known of its kind."""


class Yields(AbstractState):
    """How many episodes of commands and of variations there were, and what they have gained.

    Older iterations count less and less.
    """

    def __init__(self) -> None:
        self._counts = np.zeros((2, 2))  # commands and variations: episodes, gain
        self._due = 0.0

    def forget(self) -> None:
        """Begin anew."""
        self._counts = np.zeros((2, 2))

    def age(self, factor: float) -> None:
        """Let everything so far count less."""
        self._counts = factor * self._counts

    def add(self, *, varied: bool, num_episodes: int, gain: float) -> None:
        """Note episodes of one kind; a gain of 1 is all there is to gain."""
        self._counts[int(varied)] += (num_episodes, gain)

    def share(self, least: float, most: float) -> float:
        """The share of episodes that should be variations: as their share of the gain.

        Neither kind is given up: each counts as if an episode more had gained a little.
        """
        episodes, gain = self._counts.T
        commands, varied = (gain + LITTLE) / (episodes + 1)
        return float(np.clip(varied / (commands + varied), least, most))

    def next_variations(self, share: float, num_commands: int) -> int:
        """How many variations follow so many episodes of commands; fractions are remembered."""
        self._due += share / (1 - share) * num_commands
        count = int(self._due)
        self._due -= count
        return count

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays."""
        return {"counts": self._counts, "due": np.asarray(self._due)}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self._counts, self._due = np.array(arrays["counts"]), float(arrays["due"])
