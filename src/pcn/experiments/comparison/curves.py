"""Executed hypervolume during training, over seeds: against steps or seconds."""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from pcn.experiments.comparison.comparison import Comparison
from pcn.experiments.comparison.statistics import bootstrap_interval, interquartile_mean
from pcn.runs.run import Run

Against = Literal["steps", "seconds"]
GRID = 60
"""Places at which the seeds of a label are compared."""
RESAMPLES = 999
"""Fewer resamples than for single numbers, because every point has an interval."""


class Curve(NamedTuple):
    """The interquartile mean over seeds and its 95 % interval, NaN for a single seed."""

    x: Float[np.ndarray, " place"]
    middle: Float[np.ndarray, " place"]
    low: Float[np.ndarray, " place"]
    high: Float[np.ndarray, " place"]


def learning_curves(comparison: Comparison, against: Against) -> dict[str, Curve]:
    """The curve of each label whose runs were measured from the common reference point.

    At each point a seed has the value of its last evaluation; after its end it keeps its final
    value. A curve begins when every seed has been evaluated, and ends when the last one ends.
    """
    curves = {}
    for label in comparison.labels:
        runs = [
            entrant.run
            for entrant in comparison.of_label(label)
            if entrant.run is not None
            and np.array_equal(entrant.run.spec.reference_point, comparison.reference_point)
        ]
        if runs:
            curves[label] = _curve([_evaluated(run, against) for run in runs])
    return curves


def _evaluated(
    run: Run, against: Against
) -> tuple[Float[np.ndarray, " evaluation"], Float[np.ndarray, " evaluation"]]:
    """The times of a run's evaluations and the executed hypervolumes, including its end."""
    when = [float(getattr(evaluation, against)) for evaluation in run.progress]
    volumes = [evaluation.executed_hypervolume for evaluation in run.progress]
    end = max(float(run.metrics[against]), *when, 0.0)
    return np.array([*when, end]), np.array([*volumes, run.metrics["executed"]["hypervolume"]])


def _curve(
    seeds: list[tuple[Float[np.ndarray, " _"], Float[np.ndarray, " _"]]],
) -> Curve:
    first = max(when[0] for when, _ in seeds)
    last = max(when[-1] for when, _ in seeds)
    places = np.linspace(first, last, GRID) if last > first else np.array([last])
    values = np.array(
        [volumes[np.searchsorted(when, places, side="right") - 1] for when, volumes in seeds]
    )
    low, high = bootstrap_interval((values.T,), interquartile_mean, resamples=RESAMPLES)
    return Curve(places, interquartile_mean(values, axis=0), low, high)
