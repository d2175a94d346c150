"""Statistics over seeds: mean, interquartile mean, and 95 % bootstrap intervals."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

from pcn.single_returns import CONFIDENCE

RESAMPLES = 9_999
TRIMMED = 0.25
"""The share of seeds that the interquartile mean drops at each end, rounded down."""


class Estimate(NamedTuple):
    """A number and the ends of its 95 % interval; NaN where there is one seed only."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """A metric over the seeds of one label."""

    num_seeds: int
    mean: Estimate
    iqm: Estimate
    """The mean of the middle half, which a single outlier does not change much."""
    deviation: float
    """Standard deviation over seeds, divided by one less than their number; zero for one seed."""
    lowest: float
    highest: float


def summary(values: Float[np.ndarray, " seed"]) -> Summary:
    """Summarise a metric over seeds.

    >>> summary(np.array([1.0, 2.0, 3.0, 10.0])).iqm.value
    2.5
    """
    if len(values) == 0:
        raise ValueError("values has no seeds")
    return Summary(
        len(values),
        bootstrapped((values,), np.mean),
        bootstrapped((values,), interquartile_mean),
        deviation(values),
        float(values.min()),
        float(values.max()),
    )


def deviation(values: Float[np.ndarray, " seed"]) -> float:
    """The standard deviation over seeds; it divides by their number minus one.

    >>> deviation(np.array([1.0, 3.0]))  # the root of 1 + 1
    1.4142135623730951
    """
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def interquartile_mean(values: Any, axis: int | None = None) -> Any:
    """The mean without the lowest and the highest quarter."""
    return stats.trim_mean(values, TRIMMED, axis=axis)


def bootstrapped(
    samples: tuple[Float[np.ndarray, " _"], ...],
    statistic: Callable[..., Any],
    *,
    resamples: int = RESAMPLES,
) -> Estimate:
    """A statistic of one or more samples, with its percentile bootstrap interval."""
    low, high = bootstrap_interval(samples, statistic, resamples=resamples)
    return Estimate(float(statistic(*samples, axis=-1)), float(low), float(high))


def bootstrap_interval(
    samples: tuple[Float[np.ndarray, "*shape _"], ...],
    statistic: Callable[..., Any],
    *,
    resamples: int,
) -> tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]:
    """The ends of percentile bootstrap intervals along the last axis; NaN for a single seed.

    The resamples are always the same, so that tables can be reproduced.
    """
    if min(sample.shape[-1] for sample in samples) < 2:
        nothing = np.full(samples[0].shape[:-1], np.nan)
        return nothing, nothing
    interval = stats.bootstrap(
        samples,
        statistic,
        n_resamples=resamples,
        vectorized=True,
        axis=-1,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return np.asarray(interval.low), np.asarray(interval.high)
