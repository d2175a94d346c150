"""Sticky actions: random actions are repeated for a while, differently long in each episode."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.checks import at_least, at_most


@dataclass(frozen=True, kw_only=True)
class StickyActions(AbstractRefinement):
    """Repeat random actions for a while, differently long in each episode.

    A walk that changes its mind at every step stays near its start; one that keeps going sees the
    far corners. A mixture depends on neither being right.
    """

    most: float = 0.95
    """Largest probability that a random action is the last action again."""
    exponent: float = 2.0
    """An episode's probability is `most - u^exponent`, u uniform, and never below zero."""

    def __post_init__(self) -> None:
        at_least(self, 0, "most", "exponent")
        at_most(self, 1, "most")

    def repeat_probabilities(
        self, num_episodes: int, rng: np.random.Generator
    ) -> Float[np.ndarray, " episode"]:
        """Between hardly ever switching to another action and choosing anew at every step."""
        return np.clip(self.most - rng.uniform(size=num_episodes) ** self.exponent, 0.0, 1.0)
