"""First-order stochastic dominance: policies are compared by the distributions of their returns.

Hayes, Verstraeten, Roijers, Howley and Mannion, Expected Scalarised Returns Dominance,
arXiv:2106.01048, define it for vectors; Röpke, Hayes, Mannion, Howley, Nowé and Roijers,
Distributional Multi-Objective Decision Making, arXiv:2305.05560, discuss it beside others.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from jaxtyping import Bool, Float

from pcn.checks import at_least, at_most
from pcn.pareto.dominance import rounded
from pcn.pareto.orders.abstract import AbstractOrder, Samples
from pcn.pareto.spread import Tolerances

MOST_THRESHOLDS = 4096
"""Combinations of values at which two distributions are compared, at most."""


@dataclass(frozen=True)
class Stochastic(AbstractOrder):
    """X dominates Y when P(X >= v) >= P(Y >= v) for every vector v, and > for some v.

    The probabilities are shares of the executions. X then has the higher expected utility wherever
    utility is a sum of products of increasing, non-negative functions of the objectives. A policy
    of a lower mean is on the front if it has a better chance of something, so the front is larger
    than that of means. For single episodes this is Pareto dominance. Estimated shares are never
    quite equal: those that differ by no more than `slack` count as equal, and X must not have the
    lower mean in any objective, which exact dominance implies.
    """

    slack: float = 0.05

    name = "stochastic"
    compares_samples = True

    def __post_init__(self) -> None:
        at_least(self, 0, "slack")
        at_most(self, 1, "slack")

    def criteria(
        self, returns: Float[np.ndarray, "point objective"]
    ) -> Float[np.ndarray, "point objective"]:
        """The objectives themselves, because a single episode is a certain outcome."""
        return returns

    def criteria_margins(
        self, margins: Float[np.ndarray, "*point objective"]
    ) -> Float[np.ndarray, "*point objective"]:
        """The margins themselves."""
        return margins

    def front_mask(
        self,
        means: Float[np.ndarray, "policy objective"],
        samples: Samples | None,
        tolerances: Tolerances,
    ) -> Bool[np.ndarray, " policy"]:
        """Mark the policies whose distribution no other one dominates."""
        if samples is None or max(map(len, samples)) == 1:
            return self.non_dominated_mask(means, tolerances)
        gaps = survival_gaps([rounded(one, tolerances) for one in samples])
        dominated = self.dominance(gaps, means).any(axis=0)
        # With slack, policies could dominate one another in a circle.
        return np.asarray(dominated if dominated.all() else ~dominated)

    def dominance(
        self,
        gaps: Float[np.ndarray, "policy policy"],
        means: Float[np.ndarray, "policy objective"],
    ) -> Bool[np.ndarray, "policy policy"]:
        """`[i, j]`: whether policy i dominates policy j, by their `survival_gaps` and means."""
        deficits = gaps.T
        no_lower = np.all(means[:, None] >= means[None], axis=2)
        return np.asarray((deficits <= self.slack) & (gaps > self.slack) & no_lower)


def survival_gaps(samples: Samples) -> Float[np.ndarray, "policy policy"]:
    """`[i, j]`: the largest excess of P(X_i >= v) over P(X_j >= v) over all v; never negative.

    It is exact if the values of the objectives have up to 4096 combinations. Otherwise v is taken
    from combinations of quantiles of these values.

    >>> survival_gaps([np.array([[0.0], [2.0]]), np.array([[1.0], [1.0]])])
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    thresholds = _thresholds(np.concatenate(samples))
    shares = np.array([_survival(one, thresholds) for one in samples])
    gaps = np.array([(one - shares).max(axis=1) for one in shares])
    return np.maximum(gaps, 0.0)


def _thresholds(pooled: Float[np.ndarray, "sample objective"]) -> list[Float[np.ndarray, "_"]]:
    """The values of each objective at which distributions are compared, ascending."""
    values = [np.unique(column) for column in pooled.T]
    if prod(len(one) for one in values) <= MOST_THRESHOLDS:
        return values
    most = max(2, int(MOST_THRESHOLDS ** (1 / len(values))))
    at = np.linspace(0, 1, most)
    return [
        one if len(one) <= most else np.unique(np.quantile(column, at, method="nearest"))
        for one, column in zip(values, pooled.T, strict=True)
    ]


def _survival(
    sample: Float[np.ndarray, "execution objective"], thresholds: list[Float[np.ndarray, "_"]]
) -> Float[np.ndarray, " threshold"]:
    """The share of executions that are at least v, for each combination v of thresholds."""
    # How many thresholds of each objective an execution reaches; it counts below all of these.
    reached = tuple(
        np.searchsorted(values, column, side="right")
        for values, column in zip(thresholds, sample.T, strict=True)
    )
    counts = np.zeros([len(values) + 1 for values in thresholds])
    np.add.at(counts, reached, 1.0)
    for axis in range(counts.ndim):
        counts = np.flip(np.cumsum(np.flip(counts, axis), axis=axis), axis)
    inner = counts[(slice(1, None),) * counts.ndim]
    return inner.ravel() / len(sample)
