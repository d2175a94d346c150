"""The one problem that all entrants of an environment are measured against."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.experiments.comparison.entrant import Entrant
from pcn.metrics import Problem
from pcn.pareto import PARETO, AbstractOrder, rounded, unique_front
from pcn.runs.measures import problem_of
from pcn.runs.run import Run

Points = Float[np.ndarray, "_ objective"]


@dataclass(frozen=True, eq=False)
class CommonProblem:
    """One reference point, and one front for all entrants or one for each."""

    reference_point: Float[np.ndarray, " objective"]
    front: Float[np.ndarray, "front objective"] | None
    """None where runs are in environments with different fronts."""
    measured_against: str
    """The front in words."""
    tolerances: Float[np.ndarray, " objective"]
    notes: tuple[str, ...]
    order: AbstractOrder = PARETO
    """The order of all runs, or Pareto's where they differ."""
    one_unit: bool = False
    """Whether the objectives of all runs can be compared with one another."""

    def problem_for(self, entrant: Entrant) -> Problem:
        """The problem of one entrant: with the common front, or the run's own; a file has none."""
        front = self.front
        if front is None and entrant.run is not None:
            front = own_problem(entrant.run, self.order).front
        return Problem(
            self.reference_point,
            front,
            tolerances=self.tolerances,
            order=self.order,
            one_unit=self.one_unit,
        )


def own_problem(run: Run, order: AbstractOrder | None = None) -> Problem:
    """The problem that a run's metrics were measured with, or would be in another order."""
    return problem_of(run.spec, run.coverage_set.tolerances, order or run.coverage_set.order)


def common_order(runs: Sequence[Run]) -> AbstractOrder:
    """The order of all runs, or Pareto's where they differ."""
    order = runs[0].coverage_set.order
    return order if all(run.coverage_set.order == order for run in runs) else PARETO


def same_front(one: Points | None, other: Points | None) -> bool:
    """Whether both are unknown, or equal."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def common_problem(
    entrants: Sequence[Entrant], reference_point: Sequence[float] | None
) -> CommonProblem:
    """Settle the problem of an environment; at least one entrant is a run.

    The reference point is the given one, or the lowest of the runs. The front is the known one. If
    none is known, the union of all executed returns replaces it; if the runs have different fronts,
    each keeps its own.
    """
    runs = [entrant.run for entrant in entrants if entrant.run is not None]
    order = common_order(runs)
    own = [own_problem(run, order) for run in runs]
    one_unit = all(own_problem(run).one_unit for run in runs)
    notes = []
    if any(run.coverage_set.order != order for run in runs):
        orders = sorted({run.coverage_set.order.description for run in runs})
        notes.append(
            f"the runs follow different orders ({', '.join(orders)}): all are measured by Pareto "
            "dominance"
        )
    lowest = np.min([problem.reference_point for problem in own], axis=0)
    if reference_point is not None:
        lowest = np.array(reference_point, dtype=np.float64)
    elif any(not np.array_equal(problem.reference_point, lowest) for problem in own):
        notes.append("the runs have different reference points: all are measured from the lowest")
    tolerances = np.max([run.coverage_set.tolerance_vector for run in runs], axis=0)
    first, known = own[0].front, runs[0].spec.front
    if any(problem.front is None for problem in own):
        front = _union(entrants, tolerances)
        measured_against = (
            f"the union of all executed fronts ({len(front)} points), as no front is known"
        )
        return CommonProblem(
            lowest, front, measured_against, tolerances, tuple(notes), order, one_unit
        )
    if all(same_front(problem.front, first) for problem in own):
        assert first is not None, "no front is missing"
        assert known is not None, "it is the spec's"
        which = "" if order == PARETO else f", {order.adjective} of {len(known.returns)}"
        measured_against = f"the {known.status} front ({len(first)} points{which})"
        return CommonProblem(
            lowest, first, measured_against, tolerances, tuple(notes), order, one_unit
        )
    measured_against = "the front of each run's own environment: they differ"
    return CommonProblem(lowest, None, measured_against, tolerances, tuple(notes), order, one_unit)


def _union(
    entrants: Sequence[Entrant], tolerances: Float[np.ndarray, " objective"]
) -> Float[np.ndarray, "front objective"]:
    """The non-dominated returns of all entrants together."""
    returns = np.concatenate([entrant.returns for entrant in entrants])
    return returns[unique_front(rounded(returns, tolerances))]
