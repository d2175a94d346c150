"""The figures of a run: archive, executed, and the fidelity between them."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from pcn.coverage import CoverageSet
from pcn.envs.spec import EnvironmentSpec
from pcn.metrics import METRICS, Problem, fidelity


def problem_of(spec: EnvironmentSpec) -> Problem:
    """What metrics need to know about an environment."""
    # What an environment merely claims is shown beside the figures, never measured against.
    known = spec.front is not None and spec.front.status != "claimed"
    front = spec.front.returns if known and spec.front is not None else None
    return Problem(np.asarray(spec.reference_point, dtype=np.float64), front)


def measure(
    returns: Float[np.ndarray, "point objective"], problem: Problem
) -> dict[str, float | int]:
    """Every metric that the problem allows; a count is a whole number."""
    values = {
        name: metric(returns, problem)
        for name, metric in METRICS.items()
        if metric.measurable_on(problem)
    }
    return {**values, "cardinality": int(values["cardinality"])}


def figures(
    coverage_set: CoverageSet,
    spec: EnvironmentSpec,
    archive: Float[np.ndarray, "point objective"] | None = None,
) -> dict[str, Any]:
    """What `metrics.json` says about a coverage set.

    `archive` are the returns found in training, those asked for when not given, `executed` what
    the policies returned when they were run: the second is what a decision maker gets.
    """
    problem = problem_of(spec)
    match = fidelity(
        coverage_set.requested, coverage_set.executed, tolerance=coverage_set.tolerance
    )
    return {
        "archive": measure(coverage_set.requested if archive is None else archive, problem),
        "executed": measure(coverage_set.executed, problem),
        "fidelity": dataclasses.asdict(match),
    }
