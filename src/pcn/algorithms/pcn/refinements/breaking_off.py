"""Breaking off: exploring episodes that go on and on are given up."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most


@dataclass(frozen=True, kw_only=True)
class BreakingOff(AbstractRefinement):
    """Break exploring episodes off after a multiple of their desired horizon.

    It happens in hardly any iteration at first, and in nine of ten at the end: wandering discovers
    trade-offs, early; short episodes refine them, later. Where the budget holds few episodes of
    full length, fewer iterations are exempt. What is broken off is not learnt from.
    """

    horizons: float = 4.0
    """After how many times its desired horizon an episode is broken off."""
    exempt_share: float = 0.1
    """Share of iterations in which episodes may go on to the step limit to the very end."""

    def __post_init__(self) -> None:
        at_least(self, 1, "horizons")
        at_least(self, 0, "exempt_share")
        at_most(self, 1, "exempt_share")

    def most_steps(
        self, desired_horizons: Float[np.ndarray, " episode"], training: Training
    ) -> Int[np.ndarray, " episode"]:
        """The limit of each episode of this iteration."""
        spent = training.steps / training.config.total_steps
        exempt = max(1 - spent, self.exempt_share) * training.schedule.affordable_share
        if training.rng.uniform() < exempt:
            return np.full(len(desired_horizons), training.spec.step_limit)
        return (self.horizons * desired_horizons).astype(np.int64) + 1
