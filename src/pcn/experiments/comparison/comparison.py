"""A comparison: the entrants of one environment, measured against one problem."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pcn.envs.given import check_reference_point
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.experiments.comparison.common_problem import common_problem, own_problem, same_front
from pcn.experiments.comparison.entrant import Entrant, in_order
from pcn.experiments.comparison.finding import find_runs, shortest_name
from pcn.experiments.comparison.other_tools import read_returns
from pcn.metrics import METRICS, Problem
from pcn.runs.measures import measure
from pcn.runs.run import Run

EXECUTED, ARCHIVE = "executed", "archive"
KINDS = (EXECUTED, ARCHIVE)
"""The kinds of metrics of a run; files of other tools have only the first."""
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
    """Notes for the reader."""

    @property
    def folder_name(self) -> str:
        """The environment's name, as the name of a folder."""
        return re.sub(r"[^\w.=-]+", "-", self.environment).strip("-")

    @property
    def labels(self) -> list[str]:
        """The distinct labels of the entrants, in their order."""
        return list(dict.fromkeys(entrant.label for entrant in self.entrants))

    @property
    def metrics(self) -> list[str]:
        """The metrics that every entrant has, in the order of `METRICS`."""
        known = [values[EXECUTED].keys() for values in self.measured]
        return [name for name in METRICS if all(name in names for names in known)]

    @property
    def has_one_front(self) -> bool:
        """Whether all entrants are measured against the same front, so that a union is possible."""
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
            "name a run of the same environment beside a file of returns: the reference point and "
            "the front are taken from it"
        )
    entrants, left_out = find_runs([path for path in paths if path not in files])
    entrants = _with_unique_environments(entrants)
    if not entrants:
        raise UserError("; ".join(["there is no finished run to compare", *left_out]))
    specs = {entrant.environment: _run_of(entrant).spec for entrant in reversed(entrants)}
    entrants += _of_files(files, specs, {entrant.label for entrant in entrants})
    groups: dict[str, list[Entrant]] = defaultdict(list)
    for entrant in sorted(entrants, key=_order):
        groups[entrant.environment].append(entrant)
    return [
        _compared(name, group, specs[name], reference_point) for name, group in groups.items()
    ], left_out


def _of_files(
    paths: Sequence[Path], specs: Mapping[str, EnvironmentSpec], labels: set[str]
) -> list[Entrant]:
    """The entrants of files, each file once; their labels differ from those of runs.

    Files that hold other seeds of an algorithm belong together. If an earlier file already has a
    seed of the label, the file's name is added to the label.
    """
    files = list({path.resolve(): path for path in reversed(paths)}.values())[::-1]
    found: list[Entrant] = []
    for path in files:
        name = shortest_name(path.resolve(), {one.resolve() for one in files} - {path.resolve()})
        there = {(one.environment, one.label, one.seed) for one in found}
        more = read_returns(path, specs)
        doubled = {one.label for one in more if (one.environment, one.label, one.seed) in there}
        found += [
            replace(one, label=f"{one.label} ({name})") if one.label in labels | doubled else one
            for one in more
        ]
    return found


def _doubled(entrants: Sequence[Entrant]) -> Iterator[str]:
    """A note on every seed that a label has several times."""
    sources: dict[tuple[str, int], list[str]] = defaultdict(list)
    for entrant in entrants:
        sources[entrant.label, entrant.seed].append(str(entrant.source))
    for (label, seed), places in sources.items():
        if len(places) > 1:
            yield (
                f"{label} has seed {seed} {len(places)} times ({', '.join(places)}): intervals and "
                "p-values take them for independent"
            )


def _order(entrant: Entrant) -> tuple[str, int, str, int]:
    """A key that sorts by environment, label and seed."""
    return (entrant.environment, *in_order(entrant.label), entrant.seed)


def _run_of(entrant: Entrant) -> Run:
    assert entrant.run is not None, "found on disk"
    return entrant.run


def _with_unique_environments(entrants: list[Entrant]) -> list[Entrant]:
    """Rename environments that share a name but have different objectives."""
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
    if reference_point is not None:
        if len(reference_point) != spec.num_objectives:
            raise UserError(
                f"--reference-point has {len(reference_point)} numbers, "
                f"{environment} has {spec.num_objectives} objectives"
            )
        check_reference_point(reference_point, spec.num_objectives)
    common = common_problem(entrants, reference_point)
    notes = [*common.notes, *_doubled(entrants)]
    runs = [entrant.run for entrant in entrants if entrant.run is not None]
    if any(run.coverage_set.is_repeated for run in runs):
        notes.append(
            "executed returns are means: hypervolumes of runs are corrected for their bias"
            + ("" if len(runs) == len(entrants) else ", those of files are not")
        )
    return Comparison(
        environment,
        spec,
        common.reference_point,
        common.front,
        common.measured_against,
        tuple(entrants),
        tuple(_measured(entrant, common.problem_for(entrant)) for entrant in entrants),
        tuple(notes),
    )


def _measured(entrant: Entrant, problem: Problem) -> dict[str, Values]:
    """The metrics of an entrant; recorded metrics are used if the problem is the same."""
    run = entrant.run
    if run is None:
        return {EXECUTED: measure(entrant.returns, problem)}
    own = own_problem(run)
    same_point = np.array_equal(own.reference_point, problem.reference_point)
    same = same_point and same_front(own.front, problem.front) and own.order == problem.order
    result: dict[str, Values] = {}
    for kind, returns in ((EXECUTED, entrant.returns), (ARCHIVE, run.coverage_set.requested)):
        recorded = {name: run.metrics[kind][name] for name in METRICS if name in run.metrics[kind]}
        if same:
            result[kind] = recorded
        else:
            # The recorded hypervolume is based on single executions and the whole archive.
            kept = {"hypervolume": recorded["hypervolume"]} if same_point else {}
            result[kind] = {**measure(returns, problem), **kept}
    return result
