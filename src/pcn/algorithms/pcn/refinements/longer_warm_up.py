"""A longer warm-up: random episodes go on until a few distinct trade-offs are known."""

from dataclasses import dataclass

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most


@dataclass(frozen=True, kw_only=True)
class LongerWarmUp(AbstractRefinement):
    """Go on with random episodes until a few non-dominated returns are known.

    A training that starts from a single return has nothing to choose between.
    """

    trade_offs: int = 3
    """How many non-dominated returns must be known."""
    budget_share: float = 0.1
    """Most of the budget that it may take: there may be no more trade-offs than are known."""

    def __post_init__(self) -> None:
        at_least(self, 0, "trade_offs", "budget_share")
        at_most(self, 1, "budget_share")

    def extends_warm_up(self, training: Training) -> bool:
        """Whether too few trade-offs are known and the budget allows more."""
        return (
            len(training.dataset.archive()) < self.trade_offs
            and training.steps < self.budget_share * training.config.total_steps
        )
