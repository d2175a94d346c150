"""Returns of single executions, and what their means can say about the truth."""

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from jaxtyping import Float, Int

CONFIDENCE = 0.95
"""Of the intervals that a run reports."""
LOW, HIGH = 0.1, 0.9
"""Which quantiles of single returns a run reports."""


@dataclass(frozen=True, eq=False)
class SingleReturns:
    """What each policy returned in each of its executions; policies may have different numbers.

    Executions with the same number may have met the same randomness, so that policies are compared
    execution by execution.
    """

    by_policy: tuple[Float[np.ndarray, "_ objective"], ...]

    @classmethod
    def of_episodes(
        cls,
        returns: Float[np.ndarray, "episode objective"],
        policies: Int[np.ndarray, " episode"],
        num_policies: int,
    ) -> "SingleReturns":
        """From episodes in any order of policies; those of one policy are in theirs."""
        order = np.argsort(policies, kind="stable")
        ends = np.cumsum(np.bincount(policies, minlength=num_policies))[:-1]
        return cls(tuple(np.split(returns[order], ends)))

    def __len__(self) -> int:
        return len(self.by_policy)

    @cached_property
    def counts(self) -> Int[np.ndarray, " policy"]:
        """How often each policy was executed."""
        return np.array([len(returns) for returns in self.by_policy], np.int64)

    @cached_property
    def means(self) -> Float[np.ndarray, "policy objective"]:
        """The mean return of each policy."""
        if np.all(self.counts == 1):  # the usual case in deterministic environments, and fast
            return np.concatenate(self.by_policy)
        return np.array([returns.mean(axis=0) for returns in self.by_policy])

    @cached_property
    def deviation(self) -> Float[np.ndarray, "policy objective"]:
        """The standard deviation of each policy's single returns; zero for one execution.

        It estimates the spread of returns not seen, so it divides by one less than their number.
        """
        if np.all(self.counts == 1):
            return np.zeros_like(self.means)
        return np.array(
            [returns.std(axis=0, ddof=min(1, len(returns) - 1)) for returns in self.by_policy]
        )

    def quantiles(self, share: float) -> Float[np.ndarray, "policy objective"]:
        """The return that a share of each policy's single returns does not exceed."""
        return np.array([np.quantile(returns, share, axis=0) for returns in self.by_policy])

    @cached_property
    def widest(self) -> Float[np.ndarray, " objective"]:
        """The widest range of single returns that any one policy has shown, in each objective.

        It tells what chance can do in this environment, also to a policy that has not shown it.
        """
        return np.max([np.ptp(returns, axis=0) for returns in self.by_policy], axis=0)

    def margins(self, confidence: float = CONFIDENCE) -> Float[np.ndarray, "policy objective"]:
        """How far each mean may be from the truth: half the width of its confidence interval."""
        return margins_of(self.counts, self.deviation, self.widest, confidence)


def margins_of(
    counts: Int[np.ndarray, "*policy"],
    deviation: Float[np.ndarray, "*policy objective"],
    widest: Float[np.ndarray, " objective"],
    confidence: float,
) -> Float[np.ndarray, "*policy objective"]:
    """Half the width of confidence intervals of means, which know of outcomes not seen yet.

    It is Student's interval, or a wider one by the rule of three. What `counts` executions have
    not shown has at most the probability 1 - (1 - confidence)^(1 / counts), which is 3 / counts
    for 95 %, and moves the mean by at most that share of the `widest` range.

    >>> margins_of(np.array([20]), np.zeros((1, 1)), np.array([10.0]), 0.95).round(2)
    array([[1.39]])
    """
    count = counts[..., None].astype(np.float64)
    freedom = np.maximum(count - 1, 1)
    error = deviation / np.sqrt(count)
    unseen = (1 - (1 - confidence) ** (1 / count)) * widest
    return np.maximum(_student(freedom, confidence) * error, unseen)


def _student(
    freedom: Float[np.ndarray, "*policy"], confidence: float
) -> Float[np.ndarray, "*policy"]:
    """Quantiles of Student's t: Fisher's expansion, within 5 % from three degrees of freedom on."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
