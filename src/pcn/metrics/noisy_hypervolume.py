"""The hypervolume of returns that are known only as means over a few executions."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from jaxtyping import Bool, Float

from pcn.metrics.hypervolume import hypervolume
from pcn.single_returns import CONFIDENCE, SingleReturns

BIAS_EXPONENT = 0.75
"""The bias falls with the number of executions n like n to the power of minus this.

It is 1 where policies are far apart and 1/2 where many are equal. Over synthetic fronts of 2 to 4
objectives whose truth is known, 3/4 comes closest to it; see `docs/stochastic.md`."""
NUM_SPLITS = 8
NUM_RESAMPLES = 64


@dataclass(frozen=True)
class NoisyHypervolume:
    """An estimate of the hypervolume of the true means."""

    value: float
    """Corrected for its bias."""
    uncorrected: float
    """The hypervolume of the observed means."""
    low: float
    high: float
    """The ends of a 95 % interval of the corrected value."""


def noisy_hypervolume(
    singles: SingleReturns,
    reference_point: Float[np.ndarray, " objective"],
    *,
    rng: np.random.Generator | None = None,
) -> NoisyHypervolume:
    """Estimate the hypervolume of the policies' true means.

    The hypervolume of observed means is biased upwards: it selects means that are too high by
    chance. With half of the executions the bias is larger still, and the difference estimates the
    bias compared with infinitely many. The interval is that of a bootstrap over executions.
    Executions with the same number stay together, because they may share their random numbers.
    Without `rng` the random choices are always the same.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    whole = hypervolume(singles.means, reference_point)
    most = int(singles.counts.max())
    halves, resamples = [], []
    for _ in range(NUM_SPLITS):
        # One of each two executions in a row: every policy is halved, however many it has.
        first = np.repeat(rng.random((most + 1) // 2) < 0.5, 2)
        half = first ^ (np.arange(len(first)) % 2 == 1)
        for chosen in (half, ~half):
            halves.append(hypervolume(_means_of(singles, chosen), reference_point))
    for _ in range(NUM_RESAMPLES):
        weights = rng.exponential(size=most)
        resamples.append(hypervolume(_weighted_means(singles, weights), reference_point))
    excess = float(np.mean(halves)) - whole
    value = max(whole - excess / (2**BIAS_EXPONENT - 1), 0.0)
    margin = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * float(np.std(resamples, ddof=1))
    return NoisyHypervolume(value, whole, max(value - margin, 0.0), value + margin)


def _means_of(
    singles: SingleReturns, chosen: Bool[np.ndarray, " execution"]
) -> Float[np.ndarray, "policy objective"]:
    """Means over the chosen executions; a policy with a single execution has only that one."""
    return np.array(
        [
            (returns[chosen[: len(returns)]] if len(returns) > 1 else returns).mean(axis=0)
            for returns in singles.by_policy
        ]
    )


def _weighted_means(
    singles: SingleReturns, weights: Float[np.ndarray, " execution"]
) -> Float[np.ndarray, "policy objective"]:
    """Means over executions of random weights; they vary like means of fresh executions.

    Exponential weights alone make a mean of n executions vary by the sum of squared deviations over
    n (n + 1). An unbiased estimate divides by n (n - 1).
    """
    count = singles.counts[:, None]
    drawn = np.array(
        [
            np.average(returns, axis=0, weights=weights[: len(returns)])
            for returns in singles.by_policy
        ]
    )
    return singles.means + np.sqrt((count + 1) / np.maximum(count - 1, 1)) * (drawn - singles.means)
