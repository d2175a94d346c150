"""Expected returns: in stochastic environments, commands are judged by their mean returns.

An archived return may be far above its command's mean: another command can return more. So more
commands than the archive's are executed a few times each, the plausible ones are kept, and these
are executed afresh: the best of many noisy means overestimate what they stand for.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.dataset import Archive
from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least
from pcn.envs.spec import EnvironmentSpec
from pcn.pareto import dominating_score


@dataclass(frozen=True, kw_only=True)
class ExpectedReturns(AbstractRefinement):
    """Offer the commands with the best mean returns, and store few copies of equal returns.

    Only in stochastic environments.
    """

    copies: int = 8
    """Most stored episodes of equal return: one rare outcome must not crowd out all others."""
    candidates: int = 64
    """How many commands are executed and compared at the end, if the budget allows."""
    fewest: int = 8
    """How many are compared and offered, however small the budget is."""
    check_share: float = 0.25
    """Executions of each candidate, as a share of `executions`; two at least."""
    checking_share: float = 0.3
    """Steps that comparing may take beyond the budget, as a share of it."""
    checks: int = 3
    """How often all candidates can be executed within that share."""
    executing_share: float = 0.5
    """Steps that the final executions may take beyond the budget, as a share of it."""

    def __post_init__(self) -> None:
        at_least(self, 1, "copies", "candidates", "fewest", "checks")
        at_least(self, 0, "check_share", "checking_share", "executing_share")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions can have different outcomes."""
        return not spec.deterministic

    def most_copies(self) -> int:
        """How many stored episodes may have the same return."""
        return self.copies

    def num_checks(self, training: Training) -> int:
        """How often each candidate is executed before some are chosen."""
        return max(2, int(self.check_share * training.config.executions))

    def commands(self, training: Training) -> Archive:
        """The commands to choose from: the archive, and the best other episodes."""
        known = training.dataset.archive()
        most = self._affordable(
            self.checking_share / self.checks, self.num_checks(training), known, training
        )
        return training.dataset.candidates(min(max(self.candidates, len(known)), most))

    def chosen(
        self, archive: Archive, execution: Execution, training: Training
    ) -> Int[np.ndarray, " kept"]:
        """Which of the compared commands are offered: those that may be non-dominated."""
        kept = np.flatnonzero(plausible_mask(execution, self.num_checks(training)))
        most = self._affordable(self.executing_share, training.config.executions, archive, training)
        if len(kept) > most:
            best_first = np.argsort(-dominating_score(execution.returns[kept]), kind="stable")
            kept = np.sort(kept[best_first[:most]])
        return kept

    def _affordable(
        self, share: float, executions: int, archive: Archive, training: Training
    ) -> int:
        """How many commands can be executed that often with a share of the budget.

        Where episodes are long and the budget is small, checking would take longer than training.
        """
        per_command = executions * float(archive.horizons.mean())
        return max(self.fewest, int(share * training.config.total_steps / per_command))


def plausible_mask(execution: Execution, executions: int) -> Bool[np.ndarray, " command"]:
    """Mark the commands that may be non-dominated, as far as a few executions can tell.

    A command is dropped only if another one is better by more than both standard errors.
    """
    error = execution.deviation / np.sqrt(executions)
    lowest, highest = execution.returns - error, execution.returns + error
    beaten = np.all(lowest[None] >= highest[:, None], axis=2)
    beaten &= np.any(lowest[None] > highest[:, None], axis=2)
    return ~beaten.any(axis=1)
