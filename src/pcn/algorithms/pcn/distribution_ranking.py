"""Ranking by distributions: whose chances are better, as far as a number of executions can tell."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pcn.algorithms.pcn.ranking import AbstractComparison, Comparison
from pcn.pareto import AbstractOrder, Stochastic, survival_gaps
from pcn.single_returns import SingleReturns


@dataclass(frozen=True)
class DistributionComparison(AbstractComparison):
    """First-order stochastic dominance between the returns of commands; see `Stochastic`.

    A command beats another one if its chance of reaching any vector of returns is never lower by
    more than the slack, and somewhere higher by more than both the slack and chance allow.
    """

    of_means: Comparison
    gaps: Float[np.ndarray, "command command"]
    """By how much the chance of i to reach something exceeds that of j at most."""
    order: Stochastic

    @classmethod
    def of(
        cls, singles: SingleReturns, indifference: float, order: Stochastic
    ) -> "DistributionComparison":
        """Compare all commands; `indifference` is that of their means."""
        gaps = survival_gaps(singles.by_policy)
        return cls(Comparison.of(singles, indifference), gaps, order)

    @property
    def deficits(self) -> Float[np.ndarray, "command command"]:
        """By how much it falls short of that of j at most."""
        return self.gaps.T

    @property
    def means(self) -> Float[np.ndarray, "command objective"]:  # type: ignore[override]
        """The mean return of each command."""
        return self.of_means.means

    def beats(self, confidence: float) -> Bool[np.ndarray, "command command"]:
        """Mark where no chance is worse with i, and one is better for certain."""
        return (self.deficits <= self.order.slack) & (self.gaps > self._margins(confidence))

    def clearness(self, confidence: float) -> Float[np.ndarray, "command command"]:
        """The largest better chance in margins; where some chance is worse, minus the largest."""
        margins = self._margins(confidence)
        no_worse = self.deficits <= self.order.slack
        clear = np.where(no_worse, self.gaps, -self.deficits) / margins
        np.fill_diagonal(clear, -np.inf)
        return clear

    def ranked(self, confidence: float) -> Bool[np.ndarray, "command command"]:
        """Mark pairs of which one is better, each has a better chance, or no chance differs."""
        margins, most = self._margins(confidence), np.maximum(self.gaps, self.deficits)
        each = (self.gaps > margins) & (self.deficits > margins)
        better = self.beats(confidence)
        return better | better.T | each | (most <= self.order.slack)

    def identical(self, least_executions: int) -> Bool[np.ndarray, "command command"]:
        """Mark pairs that returned the same in every one of so many executions."""
        return self.of_means.identical(least_executions)

    def alike(self) -> Bool[np.ndarray, "command command"]:
        """Mark pairs of which neither means nor chances differ in a way that matters."""
        most = np.maximum(self.gaps, self.deficits)
        return self.of_means.alike() & (most <= self._margins(0.5))

    def front_mask(self) -> Bool[np.ndarray, " command"]:
        """Mark the commands of which no other one has better chances."""
        dominated = self.order.dominance(self.gaps, self.means).any(axis=0)
        return np.asarray(dominated if dominated.all() else ~dominated)

    def _margins(self, confidence: float) -> Float[np.ndarray, "command command"]:
        """By how much estimated chances differ where true ones do not, and at least the slack.

        It is the bound of Kolmogorov and Smirnov for two samples, for each objective by itself.
        """
        counts = np.array(np.diag(self.of_means.counts), np.float64)
        chance = (1 - confidence) / self.means.shape[1]
        factor = np.sqrt(-np.log(chance / 2) / 2)
        return np.maximum(factor * np.sqrt(1 / counts[:, None] + 1 / counts), self.order.slack)


def compared(
    singles: SingleReturns, indifference: float, order: AbstractOrder
) -> AbstractComparison:
    """All commands compared as the order does: by their means, or by their distributions."""
    if isinstance(order, Stochastic):
        return DistributionComparison.of(singles, indifference, order)
    return Comparison.of(singles, indifference, order)
