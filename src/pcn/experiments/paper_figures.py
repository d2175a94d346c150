"""The paper's figures from comparisons: best coverage sets, and Walkroom's box plots."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from pcn.experiments.comparison.comparison import EXECUTED, Comparison
from pcn.experiments.comparison.entrant import in_order
from pcn.experiments.comparison.tables import Table
from pcn.experiments.comparison.writing import Writer, scaled_down
from pcn.experiments.published import BENCHMARKS
from pcn.experiments.table1 import title_of
from pcn.figures.boxes import boxes_figure
from pcn.figures.coverage_sets import coverage_sets_figure
from pcn.pareto import unique_front

NORMALISED, I_EPS, I_EPS_MEAN = "normalised_hypervolume", "epsilon", "epsilon_mean"
PANELS = {
    NORMALISED: "normalised hypervolume (higher is better)",
    I_EPS: "I_eps (lower is better)",
    I_EPS_MEAN: "I_eps_mean (lower is better)",
}
"""The metrics of Walkroom's figure and their titles."""


def write_paper_figures(
    comparisons: Sequence[Comparison], folder: Path, scale: float = 1.0
) -> list[Path]:
    """Write the figures of those of the paper's environments that there are runs of."""
    folder.mkdir(parents=True, exist_ok=True)
    writer, remark = Writer(folder), scaled_down(scale)
    for comparison in comparisons:
        if comparison.environment in BENCHMARKS:
            name = BENCHMARKS[comparison.environment].figure
            writer.picture(name, *best_coverage_sets(comparison, remark))
    measured = walkroom_metrics(comparisons)
    if measured:
        writer.picture("walkroom", *walkroom_boxes(measured, remark))
    return writer.written


def best_coverage_sets(comparison: Comparison, remark: str = "") -> tuple[Figure, Table]:
    """The best seed of each label, dominated policies left out, and the same as a table."""
    best = [comparison.best(label) for label in comparison.labels]
    sets = {entrant.label: entrant.returns[unique_front(entrant.returns)] for entrant in best}
    spec = comparison.spec
    title = BENCHMARKS[comparison.environment].title
    known = comparison.front if spec.front is not None else None
    figure = coverage_sets_figure(
        f"{title}: best executed coverage set of each algorithm{remark}",
        sets,
        spec.objectives,
        front=known,
        front_name="known front" if spec.front is None else f"{spec.front.status} front",
        names={label: title_of(label) for label in sets},
    )
    rows: list[list[Any]] = [
        [entrant.label, entrant.seed, *point]
        for entrant in best
        for point in sets[entrant.label].tolist()
    ]
    return figure, (["algorithm", "seed", *spec.objective_names], rows)


Measured = Mapping[str, Mapping[str, Mapping[int, Float[np.ndarray, " run"]]]]
"""By metric, label and number of objectives: a number for each run."""


def walkroom_metrics(comparisons: Sequence[Comparison]) -> Measured:
    """Walkroom's metrics, over seeds and rooms; hypervolume as a share of the whole room's."""
    found: dict[str, dict[str, dict[int, list[float]]]] = {
        metric: defaultdict(lambda: defaultdict(list)) for metric in PANELS
    }
    walkrooms = [one for one in comparisons if one.spec.name.startswith("walkroom-")]
    for comparison in sorted(walkrooms, key=lambda one: one.spec.num_objectives):
        room = float(np.prod(-comparison.reference_point))
        number = comparison.spec.num_objectives
        for entrant, measured in zip(comparison.entrants, comparison.measured, strict=True):
            values = {
                **measured[EXECUTED],
                NORMALISED: measured[EXECUTED]["hypervolume"] / room,
            }
            for metric in PANELS:
                if metric in values:
                    found[metric][entrant.label][number].append(float(values[metric]))
    return {
        metric: {
            label: {number: np.array(values) for number, values in groups[label].items()}
            for label in sorted(groups, key=in_order)
        }
        for metric, groups in found.items()
        if groups
    }


def walkroom_boxes(measured: Measured, remark: str = "") -> tuple[Figure, Table]:
    """The box plots, and a row for each run in them."""
    figure = boxes_figure(
        f"Walkroom: executed policies of each algorithm{remark}",
        {PANELS[metric]: groups for metric, groups in measured.items()},
        {label: title_of(label) for groups in measured.values() for label in groups},
    )
    rows: list[list[Any]] = [
        [metric, label, number, float(value)]
        for metric, groups in measured.items()
        for label, by_number in groups.items()
        for number, values in by_number.items()
        for value in values
    ]
    return figure, (["metric", "algorithm", "objectives", "value"], rows)
