"""The files of a comparison: tables, and pictures with a CSV file beside each."""

from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure

from pcn.experiments.comparison.comparison import EXECUTED, Comparison
from pcn.experiments.comparison.curves import Against, learning_curves
from pcn.experiments.comparison.improvement import improvements, square
from pcn.experiments.comparison.tables import (
    HEADLINE,
    NAMES,
    Table,
    contribution_table,
    costs_table,
    curves_table,
    improvement_table,
    runs_table,
    summaries,
    summary_table,
    union_table,
)
from pcn.experiments.comparison.union_front import union_front
from pcn.figures.canvas import save
from pcn.figures.coverage_sets import coverage_sets_figure
from pcn.figures.improvement import improvement_figure
from pcn.figures.intervals import intervals_figure
from pcn.figures.learning_curves import learning_curves_figure
from pcn.metrics import METRICS, hypervolume
from pcn.serialisation.files import write_csv

AXES: dict[Against, str] = {
    "steps": "environment steps",
    "seconds": "seconds of training, compiling included",
}


@dataclass
class Writer:
    """Writes files into a folder and keeps a list of them."""

    folder: Path
    written: list[Path] = field(default_factory=list)
    remark: str = ""
    """The end of every title, such as a remark that runs were scaled down."""

    def table(self, name: str, table: Table) -> None:
        """Write a CSV file."""
        write_csv(self.folder / f"{name}.csv", *table)
        self.written.append(self.folder / f"{name}.csv")

    def picture(self, name: str, figure: Figure, table: Table) -> None:
        """Write a picture as PNG and PDF, and its numbers as CSV."""
        for suffix in (".png", ".pdf"):
            save(figure, self.folder / f"{name}{suffix}")
            self.written.append(self.folder / f"{name}{suffix}")
        self.table(name, table)


def scaled_down(scale: float) -> str:
    """The remark for titles if runs were scaled down; empty otherwise."""
    return "" if scale == 1 else f"\nSCALED DOWN: {scale:g} of the steps"


def write_comparison(comparison: Comparison, folder: Path, remark: str = "") -> list[Path]:
    """Write the tables and pictures of one environment; `folder` is created if needed.

    Titles end with the remark.
    """
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(folder, remark=remark)
    writer.table("runs", runs_table(comparison))
    writer.table("costs", costs_table(comparison))
    _write_metrics(comparison, writer)
    _write_curves(comparison, writer)
    _write_improvements(comparison, writer)
    _write_union(comparison, writer)
    return writer.written


def _write_metrics(comparison: Comparison, writer: Writer) -> None:
    found = summaries(comparison)
    panels = {
        f"{NAMES[metric]} ({direction_of(metric)} is better)": {
            label: found[EXECUTED, label, metric].iqm for label in comparison.labels
        }
        for metric in HEADLINE
        if metric in comparison.metrics
    }
    title = f"{comparison.environment}: interquartile mean over seeds, 95 % interval, executed"
    title += writer.remark
    writer.picture("metrics", intervals_figure(title, panels), summary_table(found))


def direction_of(metric: str) -> str:
    """Whether higher or lower values of a metric are better."""
    return "higher" if METRICS[metric].higher_is_better else "lower"


def _write_curves(comparison: Comparison, writer: Writer) -> None:
    point = ", ".join(f"{value:g}" for value in comparison.reference_point)
    known = comparison.spec.front is not None and comparison.spec.front.status != "claimed"
    best = None
    if known and comparison.front is not None:
        best = hypervolume(comparison.front, comparison.reference_point)
    for against, x_label in AXES.items():
        curves = learning_curves(comparison, against)
        if not curves:
            continue
        figure = learning_curves_figure(
            f"{comparison.environment}: interquartile mean over seeds, 95 % interval"
            f"{writer.remark}",
            curves,
            labels=comparison.labels,
            x_label=x_label,
            y_label=f"executed hypervolume at ({point})",
            best=best,
        )
        writer.picture(f"hypervolume-{against}", figure, curves_table(curves, against))


def _write_improvements(comparison: Comparison, writer: Writer) -> None:
    labels = comparison.labels
    if len(labels) < 2:
        return
    found = {
        metric: improvements(comparison, metric)
        for metric in HEADLINE
        if metric in comparison.metrics
    }
    squares = {NAMES[metric]: square(pairs, labels) for metric, pairs in found.items()}
    title = f"{comparison.environment}: probability of improvement{writer.remark}"
    writer.picture(
        "improvement", improvement_figure(title, squares, labels), improvement_table(found)
    )


def _write_union(comparison: Comparison, writer: Writer) -> None:
    union = union_front(comparison)
    if union is None:
        return
    sets = {label: union.points_of(label) for label in union.labels}
    figure = coverage_sets_figure(
        f"{comparison.environment}: union front, {len(union.points)} points, and who has which"
        f"{writer.remark}",
        sets,
        comparison.spec.objectives,
    )
    writer.picture("union-front", figure, union_table(union, comparison.spec.objective_names))
    writer.table("contributions", contribution_table(union))
