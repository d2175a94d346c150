"""Ranking: which means differ for certain, as far as a number of executions can tell."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.pareto import PARETO, AbstractOrder, best_first
from pcn.single_returns import SingleReturns, margins_of


class AbstractComparison(ABC):
    """Every command compared with every other one; `[i, j]` is about command i against j."""

    means: Float[np.ndarray, "command objective"]

    @abstractmethod
    def beats(self, confidence: float) -> Bool[np.ndarray, "command command"]:
        """Mark where i is better than j for certain."""

    @abstractmethod
    def clearness(self, confidence: float) -> Float[np.ndarray, "command command"]:
        """How clearly i looks better than j, in margins; negative where it looks worse somewhere.

        It is minus infinity where i is j.
        """

    @abstractmethod
    def ranked(self, confidence: float) -> Bool[np.ndarray, "command command"]:
        """Mark pairs of which one looks better, each is better somewhere, or both are the same."""

    @abstractmethod
    def identical(self, least_executions: int) -> Bool[np.ndarray, "command command"]:
        """Mark pairs that returned the same in every one of so many executions."""

    @abstractmethod
    def alike(self) -> Bool[np.ndarray, "command command"]:
        """Mark pairs that differ by no more than what does not matter."""

    @abstractmethod
    def front_mask(self) -> Bool[np.ndarray, " command"]:
        """Mark the commands that no other one dominates, as far as executions tell."""


@dataclass(frozen=True)
class Comparison(AbstractComparison):
    """Mean returns compared, execution by execution.

    `[i, j]` is about command i minus command j. Only executions with numbers that both have are
    compared: they may have met the same randomness, and then the difference is known much better
    than either mean.
    """

    means: Float[np.ndarray, "command objective"]
    difference: Float[np.ndarray, "command command objective"]
    """How much more i returns than j on average."""
    deviation: Float[np.ndarray, "command command objective"]
    """Standard deviation of single differences, divided by one less than their number."""
    counts: Int[np.ndarray, "command command"]
    """How many executions were compared."""
    widest: Float[np.ndarray, " objective"]
    indifference: Float[np.ndarray, " objective"]
    """Differences up to this do not matter."""
    order: AbstractOrder = PARETO
    """By what the means are compared."""

    @classmethod
    def of(
        cls, singles: SingleReturns, indifference: float, order: AbstractOrder = PARETO
    ) -> "Comparison":
        """Compare all commands; `indifference` is a share of the range of non-dominated means."""
        counts, means = singles.counts, singles.means
        longest, centre = int(counts.max()), means.mean(axis=0)
        padded = np.zeros((len(singles), longest, means.shape[1]))
        for row, returns in zip(padded, singles.by_policy, strict=True):
            row[: len(returns)] = returns - centre  # small numbers lose no digits when squared
        common = np.minimum(counts[:, None], counts)
        shape = (len(singles), *means.shape)
        difference, deviation = np.zeros(shape), np.zeros(shape)
        for one in range(len(singles)):
            shared = (np.arange(longest) < common[one][:, None])[:, :, None]
            single = (padded[one] - padded) * shared
            number = common[one][:, None]
            difference[one] = single.sum(axis=1) / number
            square = (single**2).sum(axis=1) / number
            variance = np.maximum(square - difference[one] ** 2, 0.0)
            deviation[one] = np.sqrt(variance * number / np.maximum(number - 1, 1))
        front = means[order.non_dominated_mask(means)]
        extent = np.ptp(front, axis=0)
        zone = indifference * np.where(extent > 0, extent, np.ptp(means, axis=0))
        return cls(means, difference, deviation, common, singles.widest, zone, order)

    @cached_property
    def gain(self) -> Float[np.ndarray, "command command objective"]:
        """How much more i has than j in what the order compares: Pareto's compares objectives."""
        if self.order == PARETO:
            return self.difference
        shape = self.difference.shape
        other = np.broadcast_to(self.means[None], shape).reshape(-1, shape[2])
        mine = other + self.difference.reshape(-1, shape[2])
        return (self.order.criteria(mine) - self.order.criteria(other)).reshape(shape)

    @cached_property
    def least_gain(self) -> Float[np.ndarray, " objective"]:
        """Gains up to this do not matter."""
        return self.order.criteria_margins(self.indifference)

    def beats(self, confidence: float) -> Bool[np.ndarray, "command command"]:
        """Mark where i is better than j in some objective, and worse in none, for certain."""
        least = self.gain - self._margins(confidence)
        no_worse = np.all(least >= -self.least_gain, axis=2)
        return no_worse & np.any(least > self.least_gain, axis=2)

    def clearness(self, confidence: float) -> Float[np.ndarray, "command command"]:
        """How clearly i looks better than j, in margins of the given confidence.

        Where i is worse in no objective as far as means tell, it is how clearly it is better in
        one. Otherwise it is negative: how clearly i is worse in one. Unlike `beats` it does not ask
        whether i is worse in a way that has not shown yet.
        """
        margins = np.maximum(self._margins(confidence), np.finfo(np.float64).tiny)
        with np.errstate(over="ignore"):  # a margin of almost nothing: clipped like any clear case
            ratio = np.clip(self.gain / margins, -1e9, 1e9)
        no_worse = np.all(self.gain >= -self.least_gain, axis=2)
        clear = np.where(no_worse, ratio.max(axis=2), ratio.min(axis=2))
        np.fill_diagonal(clear, -np.inf)
        return clear

    def ranked(self, confidence: float) -> Bool[np.ndarray, "command command"]:
        """Mark pairs of which one looks better, each is better somewhere, or both are the same."""
        margins = self._margins(confidence)
        least, most = self.gain - margins, self.gain + margins
        each = np.any(least > 0, axis=2) & np.any(most < 0, axis=2)
        same = np.all(np.maximum(most, -least) <= self.least_gain, axis=2)
        better = self.clearness(confidence) > 1
        return better | better.T | each | same

    def identical(self, least_executions: int) -> Bool[np.ndarray, "command command"]:
        """Mark pairs that returned the same in every one of so many executions."""
        same = np.all(np.abs(self.difference) + self.deviation == 0, axis=2)
        return same & (self.counts >= least_executions)

    def alike(self) -> Bool[np.ndarray, "command command"]:
        """Mark pairs whose means differ by no more than what does not matter."""
        return np.all(np.abs(self.difference) <= self.indifference, axis=2)

    def front_mask(self) -> Bool[np.ndarray, " command"]:
        """Mark the commands whose mean no other one dominates."""
        return self.order.non_dominated_mask(self.means)

    def _margins(self, confidence: float) -> Float[np.ndarray, "command command objective"]:
        margins = margins_of(self.counts, self.deviation, self.widest, confidence)
        return self.order.criteria_margins(margins)


def unranked_mask(
    comparison: AbstractComparison, left: Bool[np.ndarray, " command"], confidence: float
) -> Bool[np.ndarray, " command"]:
    """Mark those of the commands `left` that cannot be ranked against another one of them."""
    unranked = ~comparison.ranked(confidence) & left[:, None] & left[None]
    np.fill_diagonal(unranked, False)
    return np.asarray(unranked.any(axis=1))


def unbeaten_mask(
    comparison: AbstractComparison, *, confidence: float, identical_after: int
) -> Bool[np.ndarray, " command"]:
    """Mark the commands that no marked one beats; of identical ones, one is marked."""
    out = comparison.beats(confidence) | comparison.identical(identical_after)
    kept: list[int] = []
    # Losing to one that loses itself does not count: small differences would add up.
    for one in best_first(comparison.means, front_mask=comparison.front_mask()).tolist():
        if not out[kept, one].any():
            kept.append(one)
    mask = np.zeros(len(out), dtype=bool)
    mask[kept] = True
    return mask


def choose(comparison: AbstractComparison, *, confidence: float) -> Int[np.ndarray, " chosen"]:
    """The commands that may be non-dominated, best first; of those that are alike, the first."""
    out = comparison.beats(confidence) | comparison.alike()
    chosen: list[int] = []
    for one in best_first(comparison.means, front_mask=comparison.front_mask()).tolist():
        if not out[chosen, one].any():
            chosen.append(one)
    return np.array(chosen, np.int64)
