"""Returns of single executions, and confidence intervals of their means."""

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from jaxtyping import Float, Int

CONFIDENCE = 0.95
"""The confidence level of the intervals that a run reports."""
LOW, HIGH = 0.1, 0.9
"""The quantiles of single returns that a run reports."""


@dataclass(frozen=True, eq=False)
class SingleReturns:
    """The return of every execution of each policy; policies may have different numbers of
    executions.

    Executions with the same index may share their random numbers, so policies are compared index by
    index.
    """

    by_policy: tuple[Float[np.ndarray, "_ objective"], ...]

    @classmethod
    def of_episodes(
        cls,
        returns: Float[np.ndarray, "episode objective"],
        policies: Int[np.ndarray, " episode"],
        num_policies: int,
    ) -> "SingleReturns":
        """Group episodes by policy; the episodes of one policy keep their order."""
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

        It divides by the number of executions minus one, because it estimates the spread of returns
        that were not seen.
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
        """The widest range of single returns of any policy, in each objective.

        It bounds the effect of chance for policies that have shown less of it.
        """
        return np.max([np.ptp(returns, axis=0) for returns in self.by_policy], axis=0)

    def margins(self, confidence: float = CONFIDENCE) -> Float[np.ndarray, "policy objective"]:
        """Half the width of the confidence interval of each mean."""
        return margins_of(self.counts, self.deviation, self.widest, confidence)


def margins_of(
    counts: Int[np.ndarray, "*policy"],
    deviation: Float[np.ndarray, "*policy objective"],
    widest: Float[np.ndarray, " objective"],
    confidence: float,
) -> Float[np.ndarray, "*policy objective"]:
    """Half the width of confidence intervals of means, with room for outcomes not seen yet.

    This is Student's interval, or a wider one by the rule of three. An outcome that `counts`
    executions have not shown has at most the probability 1 - (1 - confidence)^(1 / counts), which
    is about 3 / counts for 95 %. It moves the mean by at most that share of the `widest` range.

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
