"""What is compared in one environment, measured against one problem."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.experiments.comparison.entrant import Entrant, in_order
from pcn.experiments.comparison.finding import find_runs
from pcn.experiments.comparison.other_tools import read_returns
from pcn.metrics import METRICS, Problem
from pcn.pareto import rounded, unique_front
from pcn.runs.measures import measure, problem_of
from pcn.runs.run import Run

EXECUTED, ARCHIVE = "executed", "archive"
KINDS = (EXECUTED, ARCHIVE)
"""What a run has metrics of; files of other tools have the first only."""
Values = Mapping[str, float]
"""A number for each metric."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """The entrants of one environment and their metrics."""

    environment: str
    spec: EnvironmentSpec
    """Objectives, units and directions."""
    reference_point: Float[np.ndarray, " objective"]
    """What every hypervolume is measured from."""
    front: Float[np.ndarray, "front objective"] | None
    """What epsilons are measured against; None where every entrant has a front of its own."""
    measured_against: str
    """The same in words."""
    entrants: tuple[Entrant, ...]
    """In the order of labels and seeds."""
    measured: tuple[Mapping[str, Values], ...]
    """Of each entrant, the metrics of each kind."""
    notes: tuple[str, ...] = ()
    """What a reader has to know."""

    @property
    def folder_name(self) -> str:
        """The environment's name as that of a folder."""
        return re.sub(r"[^\w.=-]+", "-", self.environment).strip("-")

    @property
    def labels(self) -> list[str]:
        """Those of the entrants, each once, in their order."""
        return list(dict.fromkeys(entrant.label for entrant in self.entrants))

    @property
    def metrics(self) -> list[str]:
        """The metrics that every entrant has, in the order of `METRICS`."""
        known = [values[EXECUTED].keys() for values in self.measured]
        return [name for name in METRICS if all(name in names for names in known)]

    @property
    def has_one_front(self) -> bool:
        """Whether all entrants are measured against the same front: then there is a union."""
        return self.front is not None

    def of_label(self, label: str) -> list[Entrant]:
        """The seeds of a label."""
        return [entrant for entrant in self.entrants if entrant.label == label]

    def values(self, metric: str, kind: str = EXECUTED) -> dict[str, Float[np.ndarray, " seed"]]:
        """A metric over the seeds of each label that has it."""
        found: dict[str, list[float]] = defaultdict(list)
        for entrant, values in zip(self.entrants, self.measured, strict=True):
            if metric in values.get(kind, {}):
                found[entrant.label].append(float(values[kind][metric]))
        return {label: np.array(numbers) for label, numbers in found.items()}

    def best(self, label: str) -> Entrant:
        """The seed of a label with the largest executed hypervolume; the first of equal ones."""
        rows = [index for index, entrant in enumerate(self.entrants) if entrant.label == label]
        return self.entrants[max(rows, key=lambda i: self.measured[i][EXECUTED]["hypervolume"])]


def compare(
    paths: Sequence[Path], *, reference_point: Sequence[float] | None = None
) -> tuple[list[Comparison], list[str]]:
    """Compare runs, environment by environment; also a line for each run that is left out.

    `paths` are run folders, folders with runs anywhere below them, and CSV files of other tools'
    returns. `reference_point` takes the place of the environments' own.
    """
    files = [path for path in paths if path.suffix.lower() == ".csv" and path.is_file()]
    if len(files) == len(paths):
        raise UserError(
            "a file of returns needs a run of its environment beside it, which tells the "
            "reference point and the front"
        )
    entrants, left_out = find_runs([path for path in paths if path not in files])
    entrants = _told_apart(entrants)
    if not entrants:
        raise UserError("; ".join(["there is no finished run to compare", *left_out]))
    specs = {entrant.environment: _run_of(entrant).spec for entrant in reversed(entrants)}
    labels = {entrant.label for entrant in entrants}
    for path in files:
        entrants += [
            replace(other, label=f"{other.label} ({path.name})") if other.label in labels else other
            for other in read_returns(path, specs)
        ]
    groups: dict[str, list[Entrant]] = defaultdict(list)
    for entrant in sorted(entrants, key=lambda one: (one.environment, *in_order(one.label))):
        groups[entrant.environment].append(entrant)
    return [
        _compared(name, group, specs[name], reference_point) for name, group in groups.items()
    ], left_out


def _run_of(entrant: Entrant) -> Run:
    assert entrant.run is not None, "found on disk"
    return entrant.run


def _told_apart(entrants: list[Entrant]) -> list[Entrant]:
    """Entrants whose environments have one name but other objectives get their specs' names."""
    objectives: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for entrant in entrants:
        objectives[entrant.environment].add(_run_of(entrant).spec.objective_names)
    return [
        replace(entrant, environment=_run_of(entrant).spec.name)
        if len(objectives[entrant.environment]) > 1
        else entrant
        for entrant in entrants
    ]


def _compared(
    environment: str,
    entrants: list[Entrant],
    spec: EnvironmentSpec,
    reference_point: Sequence[float] | None,
) -> Comparison:
    """Measure the entrants of an environment against one problem."""
    runs = [entrant.run for entrant in entrants if entrant.run is not None]
    own = [problem_of(run.spec, run.coverage_set.tolerances) for run in runs]
    notes: list[str] = []
    if reference_point is not None:
        if len(reference_point) != spec.num_objectives:
            raise UserError(
                f"--reference-point has {len(reference_point)} numbers, "
                f"{environment} has {spec.num_objectives} objectives"
            )
        common = np.array(reference_point, dtype=np.float64)
    else:
        common = np.min([problem.reference_point for problem in own], axis=0)
        if any(not np.array_equal(problem.reference_point, common) for problem in own):
            notes.append(
                "the runs have different reference points: all are measured from the lowest"
            )
    tolerances = np.max(
        [np.broadcast_to(problem.known_tolerances, common.shape) for problem in own], axis=0
    )
    fronts = [None if problem.front is None else problem.front for problem in own]
    first = fronts[0]
    same = all(_equal(front, first) for front in fronts)
    if same and first is not None:
        assert spec.front is not None, "a front that is measured against is known"
        front, against = first, f"the {spec.front.status} front ({len(first)} points)"
    elif not same and all(front is not None for front in fronts):
        front, against = None, "the front of each run's own environment: they differ"
    else:
        front = _union(entrants, tolerances)
        against = f"the union of all executed fronts ({len(front)} points), as no front is known"
    problems = [Problem(common, one if front is None else front, tolerances=tolerances) for one in
                _fronts_by_entrant(entrants, fronts)]  # fmt: skip
    measured = tuple(
        _measured(entrant, problem) for entrant, problem in zip(entrants, problems, strict=True)
    )
    if any(run.coverage_set.is_repeated for run in runs):
        notes.append(
            "executed returns are means: hypervolumes of runs are corrected for what chance adds"
            + ("" if len(runs) == len(entrants) else ", those of files are not")
        )
    return Comparison(
        environment, spec, common, front, against, tuple(entrants), measured, tuple(notes)
    )


def _fronts_by_entrant(
    entrants: list[Entrant], fronts: list[Float[np.ndarray, "_ objective"] | None]
) -> list[Float[np.ndarray, "_ objective"] | None]:
    """The own front of each entrant; a file has none."""
    own = iter(fronts)
    return [None if entrant.run is None else next(own) for entrant in entrants]


def _equal(
    one: Float[np.ndarray, "_ objective"] | None, other: Float[np.ndarray, "_ objective"] | None
) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def _union(
    entrants: list[Entrant], tolerances: Float[np.ndarray, " objective"]
) -> Float[np.ndarray, "front objective"]:
    """The non-dominated returns of all entrants together."""
    returns = np.concatenate([entrant.returns for entrant in entrants])
    return returns[unique_front(rounded(returns, tolerances))]


def _measured(entrant: Entrant, problem: Problem) -> dict[str, Values]:
    """The metrics of an entrant; what a run has measured against the same problem is kept."""
    run = entrant.run
    if run is None:
        return {EXECUTED: measure(entrant.returns, problem)}
    own = problem_of(run.spec, run.coverage_set.tolerances)
    same_point = np.array_equal(own.reference_point, problem.reference_point)
    same = same_point and _equal(own.front, problem.front)
    result: dict[str, Values] = {}
    for kind, returns in ((EXECUTED, entrant.returns), (ARCHIVE, run.coverage_set.requested)):
        recorded = {name: run.metrics[kind][name] for name in METRICS if name in run.metrics[kind]}
        if same:
            result[kind] = recorded
        else:
            # The recorded hypervolume knows single executions and the whole archive.
            kept = {"hypervolume": recorded["hypervolume"]} if same_point else {}
            result[kind] = {**measure(returns, problem), **kept}
    return result
