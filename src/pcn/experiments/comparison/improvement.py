"""Probability of improvement: how likely a seed of one algorithm beats a seed of another."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy import stats

from pcn.experiments.comparison.comparison import Comparison
from pcn.experiments.comparison.statistics import Estimate, bootstrapped
from pcn.metrics import METRICS
from pcn.pareto import rounded
from pcn.pareto.spread import SINGLE_PRECISION

RESAMPLES = 1_999
"""Fewer resamples than for means, because each of them ranks all pairs again."""


@dataclass(frozen=True)
class Improvement:
    """A comparison of two algorithms in one metric."""

    label: str
    other: str
    probability: Estimate
    """The probability that a random seed of `label` is better than one of `other`; a tie is half a
    win."""
    p_value: float
    """Of the two-sided Mann-Whitney test that neither is better."""

    def mirrored(self) -> "Improvement":
        """The same comparison with the algorithms exchanged."""
        value, low, high = self.probability
        return Improvement(
            self.other, self.label, Estimate(1 - value, 1 - high, 1 - low), self.p_value
        )


def improvements(comparison: Comparison, metric: str) -> list[Improvement]:
    """Compare every pair of labels, in both orders, by executed returns."""
    values = comparison.values(metric)
    sign = 1.0 if METRICS[metric].higher_is_better else -1.0
    found: list[Improvement] = []
    for label, other in combinations(values, 2):
        one = improvement(label, other, sign * values[label], sign * values[other])
        found += [one, one.mirrored()]
    return found


def improvement(
    label: str, other: str, mine: Float[np.ndarray, " mine"], theirs: Float[np.ndarray, " theirs"]
) -> Improvement:
    """Compare two samples; larger values are better.

    >>> improvement("a", "b", np.array([3.0, 4.0]), np.array([1.0, 4.0])).probability.value
    0.625
    """
    # Returns have single precision: differences below it are ties.
    both = np.concatenate([mine, theirs])[:, None]
    noise = SINGLE_PRECISION * float(np.abs(both).max())
    mine, theirs = np.split(rounded(both, noise)[:, 0], [len(mine)])
    p_value = float(stats.mannwhitneyu(mine, theirs, alternative="two-sided").pvalue)
    probability = bootstrapped((mine, theirs), _wins, resamples=RESAMPLES)
    return Improvement(label, other, probability, p_value)


def _wins(mine: Any, theirs: Any, axis: int) -> Any:
    """The share of pairs in which the first sample has more; a tie is half a pair."""
    num_pairs = mine.shape[axis] * theirs.shape[axis]
    # The p-value is not used here; its exact form would take long for each resample.
    return stats.mannwhitneyu(mine, theirs, axis=axis, method="asymptotic").statistic / num_pairs


def square(found: list[Improvement], labels: list[str]) -> Float[np.ndarray, "label other"]:
    """The probabilities of a row against a column; NaN on the diagonal."""
    probabilities = np.full((len(labels), len(labels)), np.nan)
    for one in found:
        probabilities[labels.index(one.label), labels.index(one.other)] = one.probability.value
    return probabilities
