"""Breaking off: exploring episodes that go on and on are given up."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most


@dataclass(frozen=True, kw_only=True)
class BreakingOff(AbstractRefinement):
    """Break exploring episodes off after a multiple of the longest desired horizon.

    It happens in hardly any iteration at first, and in nine of ten at the end: wandering discovers
    trade-offs, early; short episodes refine them, later. What is broken off is not learnt from.
    """

    horizons: float = 4.0
    """After how many times the longest desired horizon of the iteration."""
    exempt_share: float = 0.1
    """Share of iterations in which episodes may go on to the step limit to the very end."""

    def __post_init__(self) -> None:
        at_least(self, 1, "horizons")
        at_least(self, 0, "exempt_share")
        at_most(self, 1, "exempt_share")

    def most_steps(
        self, desired_horizons: Float[np.ndarray, " episode"], training: Training
    ) -> int | None:
        """The limit of this iteration's episodes, or None if they may go on."""
        spent = training.steps / training.config.total_steps
        if training.rng.uniform() < max(1 - spent, self.exempt_share):
            return None
        return int(self.horizons * desired_horizons.max()) + 1
