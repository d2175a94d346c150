"""A longer warm-up: random episodes go on until they have shown enough to start from."""

from dataclasses import dataclass

import numpy as np

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.pareto import spread


@dataclass(frozen=True, kw_only=True)
class LongerWarmUp(AbstractRefinement):
    """Go on with random episodes until a few trade-offs are known and every objective has moved.

    A training that starts from a single return has nothing to choose between. A training in which
    an objective was the same in every episode has not seen yet what the objective is about.
    """

    trade_offs: int = 3
    """How many non-dominated returns must be known."""
    budget_share: float = 0.1
    """Most of the budget that it may take: there may be no more trade-offs than are known."""
    unmoved_share: float = 0.3
    """Most of the budget that it may take while an objective was the same in every episode: the
    objective may be a constant."""
    leaves_to_scouts: bool = True
    """Whether it does not wait for objectives where another refinement explores further."""

    def __post_init__(self) -> None:
        at_least(self, 0, "trade_offs", "budget_share", "unmoved_share")
        at_most(self, 1, "budget_share", "unmoved_share")

    def extends_warm_up(self, training: Training) -> bool:
        """Whether too little is known and the budget allows more."""
        spent = training.steps / training.config.total_steps
        if len(training.dataset.archive()) < self.trade_offs and spent < self.budget_share:
            return True
        further = any(one.goes_further(training) for one in training.refinements)
        if further and self.leaves_to_scouts:
            return False
        unmoved = bool(np.any(spread(training.dataset.rows.returns) == 0))
        return unmoved and spent < self.unmoved_share
