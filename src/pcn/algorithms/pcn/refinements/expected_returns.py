"""Expected returns: in stochastic environments, commands are judged by their mean returns.

An archived return may be far above its command's mean: another command can return more. So more
commands than the archive's race against one another at the end, those of every network that
refinements offer; see `racing.py`. The chosen ones are executed afresh: the best of many noisy
means overestimate what they stand for.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.distribution_ranking import compared
from pcn.algorithms.pcn.racing import Rules
from pcn.algorithms.pcn.ranking import choose
from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.rows import Archive
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most, positive
from pcn.envs.spec import EnvironmentSpec
from pcn.pareto import PARETO, AbstractOrder


@dataclass(frozen=True, kw_only=True)
class ExpectedReturns(AbstractRefinement):
    """Offer the commands with the best mean returns, and store few copies of equal returns.

    Only in stochastic environments.
    """

    copies: int = 8
    """Most stored episodes of equal return: one rare outcome must not crowd out all others."""
    candidates: int = 64
    """How many of the dataset's commands race at the end, if the budget allows."""
    fewest: int = 8
    """How many race and are offered, however small the budget is."""
    race_share: float = 0.5
    """Share of the steps left at the end that the race may take; the rest is for what is chosen."""
    confirmed_race_share: float = 0.2
    """The same where a model has been confirmed: its commands need no race."""
    confirmed_executions: int = 2
    """So many executions of each command of a confirmed model must fit into the final steps."""
    race_executions: int = 16
    """Executions of every command in the first round of the race, if the steps allow."""
    fewest_race_executions: int = 4
    """How many they are at least; then fewer commands race."""
    longer: float = 1.5
    """How much longer than in the dataset executions are expected to be."""
    race_growth: int = 4
    """Each later round brings undecided commands to so many times as many executions."""
    most_race_executions: int = 1656
    """Most executions of a command in the race."""
    race_confidence: float = 0.99
    """How certain it must be that another command is better before one is executed no more."""
    choice_confidence: float = 0.5
    """How certain it must be that another command is better before one is not offered."""
    indifference: float = 0.005
    """Differences up to this share of the front's range do not matter."""
    identical_after: int = 16
    """Of commands that returned the same in so many executions, one is executed no more."""
    patience: float = 4.0
    """The race breaks an episode off after so many times its desired horizon, or the median one."""
    fewest_executions: int = 6
    """So many executions of each chosen command must fit into the final steps, if they are too few
    for `executions` of each."""
    most_executions: int = 1_000
    """Most executions of a chosen command; `executions` is the least."""
    ranking_confidence: float = 0.95
    """How certain the order of chosen commands must be before they are executed no more."""

    def __post_init__(self) -> None:
        at_least(self, 1, "copies", "candidates", "fewest", "most_executions", "patience")
        at_least(self, 1, "fewest_executions")
        at_least(self, 2, "race_executions", "race_growth", "most_race_executions")
        at_least(self, 2, "fewest_race_executions")
        positive(self, "longer")
        at_least(self, 2, "identical_after")
        at_least(self, 1, "confirmed_executions")
        at_most(self, 0.99, "confirmed_race_share")
        at_least(self, 0, "indifference")
        at_most(self, 0.99, "race_share")
        at_most(self, 0.9999, "race_confidence", "choice_confidence", "ranking_confidence")
        positive(self, "race_share", "race_confidence", "choice_confidence", "ranking_confidence")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions can have different outcomes."""
        return not spec.deterministic

    def most_copies(self) -> int:
        """How many stored episodes may have the same return."""
        return self.copies

    def commands(self, training: Training) -> Archive:
        """The commands to choose from: the archive, and the best other episodes.

        As far as episodes in training tell, their first round takes at most half of the race's
        steps.
        """
        known = training.dataset.archive()
        most = int(self._first_round(training) / self.fewest_race_executions)
        count = min(max(self.candidates, len(known)), max(self.fewest, most))
        return training.dataset.candidates(count)

    def _first_round(self, training: Training) -> float:
        """How many executions the first round of the race can have."""
        horizons = training.dataset.archive().horizons
        # Known before the end begins: a snapshot taken later must find the same commands.
        steps = self.race_share * training.schedule.ending_steps(0) / 2
        return steps / (self.longer * float(horizons.mean()))

    def race_steps(self, training: Training, *, confirmed: bool = False) -> int:
        """Environment steps that the race may take."""
        share = self.confirmed_race_share if confirmed else self.race_share
        return int(share * training.steps_left)

    def race_rules(self, training: Training, num_commands: int) -> Rules:
        """How the race goes: many commands, few executions, losers are dropped."""
        each = int(self._first_round(training) / max(num_commands, 1))
        return Rules(
            first=int(np.clip(each, self.fewest_race_executions, self.race_executions)),
            growth=self.race_growth,
            largest=self.most_race_executions,
            confidence=self.race_confidence,
            indifference=self.indifference,
            drops=True,
            final_executions=self.fewest_executions,
            identical_after=self.identical_after,
            patience=self.patience,
        )

    def final_rules(self, executions: int) -> Rules:
        """How the chosen are executed: until neighbours can be ranked."""
        return Rules(
            first=executions,
            growth=2,
            largest=max(executions, self.most_executions),
            confidence=self.ranking_confidence,
            indifference=self.indifference,
            drops=False,
            shares_randomness=False,
        )

    def chosen(
        self,
        execution: Execution,
        *,
        executions: int,
        most_steps: int,
        order: AbstractOrder = PARETO,
    ) -> Int[np.ndarray, " chosen"]:
        """Which of the raced commands are offered, best first.

        Those that may be non-dominated, and no more of them than can be executed so often.
        """
        comparison = compared(execution.singles, self.indifference, order)
        best = choose(comparison, confidence=self.choice_confidence)
        cost = min(executions, self.fewest_executions) * np.cumsum(execution.horizons[best])
        return best[: max(self.fewest, int((cost <= most_steps).sum()))]

    def adding(
        self, execution: Execution, expected: Float[np.ndarray, "point objective"]
    ) -> Int[np.ndarray, " chosen"]:
        """Which of the raced commands add to what a confirmed model promises.

        Those that are clearly better somewhere: beyond twice their standard error.
        """
        if len(execution.returns) == 0:
            return np.zeros(0, np.int64)
        error = execution.deviation / np.sqrt(np.maximum(execution.counts, 1))[:, None]
        lowest = execution.returns - 2 * error - self.indifference * np.ptp(expected, axis=0)
        covered = np.all(expected[None] >= lowest[:, None], axis=2).any(axis=1)
        return np.flatnonzero(~covered)
