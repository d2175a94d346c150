"""A comparison as tables: a header and rows, for the screen, for Markdown and for CSV files."""

from collections.abc import Mapping, Sequence
from typing import Any

from pcn.experiments.comparison.comparison import ARCHIVE, EXECUTED, KINDS, Comparison
from pcn.experiments.comparison.curves import Curve
from pcn.experiments.comparison.improvement import Improvement
from pcn.experiments.comparison.statistics import Estimate, Summary, summary
from pcn.experiments.comparison.union_front import UnionFront
from pcn.experiments.tables import NOTHING, shown

HEADLINE = ("hypervolume", "epsilon", "epsilon_mean")
"""The metrics of the paper, which are drawn and tested."""
PRINTED = (*HEADLINE, "cardinality", "front_share")
"""The metrics that are printed; files hold all."""
FAIRNESS = ("worst_off", "sen_welfare", "gini")
"""The metrics that are also printed if the order of some run is about fairness."""
NAMES = {
    "hypervolume": "hypervolume",
    "epsilon": "I_eps",
    "epsilon_mean": "I_eps_mean",
    "cardinality": "policies",
    "front_share": "share of the front",
    "worst_off": "worst-off",
    "sen_welfare": "Sen welfare",
    "gini": "Gini index",
}
"""The names of metrics in tables and figures."""

Table = tuple[list[str], list[list[Any]]]
"""A header and rows."""


def summaries(comparison: Comparison) -> dict[tuple[str, str, str], Summary]:
    """Of each kind, label and metric, in this order."""
    return {
        (kind, label, metric): summary(values)
        for kind in KINDS
        for metric in comparison.metrics
        for label, values in comparison.values(metric, kind).items()
    }


def summary_table(found: Mapping[tuple[str, str, str], Summary]) -> Table:
    """Every summary in a row of its own."""
    header = [
        "kind", "algorithm", "metric", "seeds", "mean", "mean_low", "mean_high",
        "iqm", "iqm_low", "iqm_high", "deviation", "lowest", "highest",
    ]  # fmt: skip
    rows = [
        [*key, one.num_seeds, *one.mean, *one.iqm, one.deviation, one.lowest, one.highest]
        for key, one in found.items()
    ]
    return header, rows


def printed_table(
    comparison: Comparison, found: Mapping[tuple[str, str, str], Summary]
) -> tuple[list[str], list[list[str]]]:
    """A row for each metric and label: mean and interquartile mean of what was executed.

    The last column is the mean over archives, which other tools' files do not have.
    """
    rows = []
    runs = [entrant.run for entrant in comparison.entrants if entrant.run is not None]
    fair = any(run.coverage_set.order.needs_one_unit for run in runs)
    for metric in (*PRINTED, *FAIRNESS) if fair else PRINTED:
        for label in comparison.labels if metric in comparison.metrics else []:
            executed = found[EXECUTED, label, metric]
            archive = found.get((ARCHIVE, label, metric))
            rows.append(
                [
                    NAMES[metric],
                    label,
                    str(executed.num_seeds),
                    with_interval(executed.mean),
                    with_interval(executed.iqm),
                    NOTHING if archive is None else with_interval(archive.mean),
                ]
            )
    return ["metric", "algorithm", "seeds", "executed: mean", "IQM", "archive: mean"], rows


def with_interval(estimate: Estimate) -> str:
    """A number and its interval; an interval of one seed, or without width, is left out.

    >>> with_interval(Estimate(2.0, 1.5, 2.25))
    '2 [1.5, 2.25]'
    """
    value, low, high = map(shown, estimate)
    return value if low == high or NOTHING in (low, high) else f"{value} [{low}, {high}]"


def runs_table(comparison: Comparison) -> Table:
    """A row for each run, or each seed of a file."""
    metrics = comparison.metrics
    header = ["algorithm", "seed", "source"]
    header += [f"{kind}_{metric}" for kind in KINDS for metric in metrics]
    rows: list[list[Any]] = []
    for entrant, measured in zip(comparison.entrants, comparison.measured, strict=True):
        values = [measured.get(kind, {}).get(metric, "") for kind in KINDS for metric in metrics]
        recorded = {} if entrant.run is None else entrant.run.metrics
        commanded = entrant.run is not None and entrant.run.takes_commands
        fidelity = recorded.get("fidelity", {}).get("exact", "") if commanded else ""
        names = entrant.label, entrant.seed, entrant.source.name
        rows.append([*names, *values, fidelity, recorded.get("steps", "")])
    return [*header, "fidelity", "steps"], rows


def costs_table(comparison: Comparison) -> Table:
    """Steps and time of each run; separate from its results, which are the same on every
    machine."""
    header = ["algorithm", "seed", "steps", "seconds", "cpu_seconds"]
    rows: list[list[Any]] = [
        [one.label, one.seed, *(one.run.metrics.get(name, "") for name in header[2:])]
        for one in comparison.entrants
        if one.run is not None
    ]
    return header, rows


def improvement_table(found: Mapping[str, Sequence[Improvement]]) -> Table:
    """A row for each metric and ordered pair."""
    header = ["metric", "algorithm", "other", "probability", "low", "high", "p_value"]
    rows: list[list[Any]] = [
        [metric, one.label, one.other, *one.probability, one.p_value]
        for metric, pairs in found.items()
        for one in pairs
    ]
    return header, rows


def curves_table(curves: Mapping[str, Curve], against: str) -> Table:
    """A row for each label and place."""
    header = ["algorithm", against, "iqm", "low", "high"]
    rows: list[list[Any]] = [
        [label, *map(float, place)]
        for label, curve in curves.items()
        for place in zip(*curve, strict=True)
    ]
    return header, rows


def union_table(union: UnionFront, objectives: Sequence[str]) -> Table:
    """A row for each point: its return and the algorithms that found it."""
    rows: list[list[Any]] = []
    for point, owned in zip(union.points.tolist(), union.owned.T, strict=True):
        owners = [label for label, has in zip(union.labels, owned, strict=True) if has]
        rows.append([*point, " ".join(owners)])
    return [*objectives, "algorithms"], rows


def contribution_table(union: UnionFront) -> Table:
    """A row for each label."""
    header = ["algorithm", "points", "alone", "hypervolume", "hypervolume_lost"]
    rows: list[list[Any]] = [
        [one.label, one.num_points, one.num_alone, one.hypervolume, one.hypervolume_lost]
        for one in union.contributions
    ]
    return header, rows
