"""The metrics of a run: archive, executed, and the fidelity between them."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from pcn.coverage import CoverageSet
from pcn.envs.spec import EnvironmentSpec
from pcn.metrics import METRICS, Problem, fidelity, noisy_hypervolume
from pcn.pareto import PARETO, AbstractOrder, Scaled, Tolerances

NOT_EXECUTED = (
    "NOT EXECUTED: learned from logged episodes without an environment; all returns are those of "
    "the data, and nothing says that the policies reach them"
)
"""The note in `metrics.json` if no policy was run."""
ALL_STOPPED = (
    "NOT EXECUTED: no execution came to its end within total_steps; all returns are what was "
    "requested, and nothing says that the policies reach them"
)
"""The note if the budget stopped all executions."""


def problem_of(
    spec: EnvironmentSpec, tolerances: Tolerances, order: AbstractOrder = PARETO
) -> Problem:
    """The reference point, true front and order that metrics are measured with.

    The true front is its part that is non-dominated in the order, such as the fair part for a fair
    order.
    """
    # A front that the environment only claims is shown beside the metrics, and never used in them.
    known = spec.front is not None and spec.front.status != "claimed"
    front = spec.front.returns if known and spec.front is not None else None
    if front is not None and order != PARETO:
        front = front[order.non_dominated_mask(front)]
    reference_point = np.asarray(spec.reference_point, dtype=np.float64)
    # Without units, choosing such an order states that the objectives share a unit.
    sure = order.needs_one_unit if not spec.objectives[0].unit else not isinstance(order, Scaled)
    return Problem(
        reference_point,
        front,
        tolerances=tolerances,
        order=order,
        one_unit=spec.has_one_unit and sure,
    )


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


def metrics_of(
    coverage_set: CoverageSet,
    spec: EnvironmentSpec,
    archive: Float[np.ndarray, "point objective"] | None = None,
) -> dict[str, Any]:
    """The metrics of a coverage set, as they stand in `metrics.json`.

    `archive` are the non-dominated returns found in training; without it, the requested ones.
    `executed` is measured on what the policies returned when they were run: this is what a
    decision maker gets. Where policies were executed several times, its hypervolume is corrected
    for what chance adds to it, and a policy is faithful if the interval of its mean reaches what
    was requested. Policies whose executions the budget stopped are counted as `stopped`.
    """
    problem = problem_of(spec, coverage_set.tolerances, coverage_set.order)
    if not coverage_set.is_executed:
        supported = coverage_set.requested if archive is None else archive
        return {
            "archive": measure(supported, problem),
            "executed": {},
            "fidelity": {},
            "not_executed": ALL_STOPPED if coverage_set.num_stopped else NOT_EXECUTED,
        }
    match = fidelity(
        coverage_set.requested,
        coverage_set.executed,
        tolerances=coverage_set.slack,
        num_missed=coverage_set.num_stopped,
    )
    return {
        "archive": measure(coverage_set.requested if archive is None else archive, problem),
        "executed": {
            **measure(coverage_set.executed, problem),
            **_about_means(coverage_set, problem),
            **_about_samples(coverage_set),
        },
        "fidelity": dataclasses.asdict(match),
        **({"stopped": coverage_set.num_stopped} if coverage_set.num_stopped else {}),
    }


def _about_samples(coverage_set: CoverageSet) -> dict[str, int]:
    """The number of non-dominated policies, where the order compares single executions."""
    by_samples = coverage_set.order.compares_samples
    return {"cardinality": int(coverage_set.front_mask.sum())} if by_samples else {}


def _about_means(coverage_set: CoverageSet, problem: Problem) -> dict[str, Any]:
    """The corrected hypervolume of means, its interval, and the numbers of executions."""
    singles = coverage_set.singles
    if singles is None or not coverage_set.is_repeated:
        return {}
    estimate = noisy_hypervolume(singles, problem.reference_point)
    counts = coverage_set.executions
    return {
        "hypervolume": estimate.value,
        "hypervolume_uncorrected": estimate.uncorrected,
        "hypervolume_interval": [estimate.low, estimate.high],
        "executions": {"least": int(counts.min()), "most": int(counts.max())},
    }
