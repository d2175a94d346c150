"""The front of a run: executed returns, requested returns and the known front."""

from collections.abc import Sequence

import matplotlib
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.figures.canvas import new_figure, set_title, tidy
from pcn.figures.coverage_sets import coverage_sets_figure
from pcn.figures.labels import labels_of, refuse_different_environments
from pcn.figures.scales import draw_scales, objective_label, whole_ticks
from pcn.metrics import cardinality, found_mask, reached_mask
from pcn.runs.run import Run

KNOWN, EXECUTED, MISSED = "#9aa5b1", "#0b6fb8", "#d1495b"
MOST_IDS = 30
"""Ids are shown for at most this many policies; more would overlap."""


def front_figure(run: Run) -> Figure:
    """Two objectives as a scatter plot, more as parallel coordinates."""
    spec = run.spec
    if spec.num_objectives == 2:
        figure, axes = new_figure(6.4, 4.6)
        _scatter(axes, run, spec)
    else:
        figure, axes = new_figure(7.6, 4.6)
        _parallel(axes, run, spec)
    set_title(axes, _title(run, spec))
    return figure


def fronts_figure(runs: Sequence[Run]) -> Figure:
    """The executed fronts of several runs in one picture, each with a mark of its own."""
    refuse_different_environments(runs)
    if len({run.spec.objective_names for run in runs}) > 1:
        raise UserError(f"runs with different objectives of {runs[0].spec.name}")
    spec, sets = runs[0].spec, dict(zip(labels_of(runs), _fronts(runs), strict=True))
    known = spec.front
    return coverage_sets_figure(
        f"{spec.name}: the executed fronts of {len(runs)} runs",
        sets,
        spec.objectives,
        front=None if known is None else known.returns,
        front_name="known front" if known is None else f"{known.status} front",
    )


def _fronts(runs: Sequence[Run]) -> list[Float[np.ndarray, "_ objective"]]:
    return [run.coverage_set.front for run in runs]


def _title(run: Run, spec: EnvironmentSpec) -> list[str]:
    """The share of the known front that was executed, and the number of policies that return what
    was requested. Policies with equal returns count once, as in `metrics.json`."""
    executed = run.coverage_set.front
    order = run.coverage_set.order
    distinct = cardinality(executed, tolerances=run.coverage_set.tolerances, order=order)
    lines = [f"{spec.name}: {distinct:.0f} {order.adjective} {_policies(distinct)}"]
    if spec.front is not None:
        known = spec.front.returns[order.non_dominated_mask(spec.front.returns)]
        found = found_mask(executed, known, tolerances=run.coverage_set.tolerances)
        lines.append(f"{found.sum()} of {len(known)} points of the {spec.front.status} front")
    if not run.is_executed:
        return [*lines, "NOT EXECUTED: returns of logged episodes"]
    if not run.takes_commands:
        return lines
    share, count = run.metrics["fidelity"]["exact"], len(run.coverage_set)
    verb = "returns" if count == 1 else "return"
    asked = f"{round(share * count)} of {count} {_policies(count)} {verb} what was requested"
    return [*lines, asked]


def _policies(count: float) -> str:
    return "policy" if count == 1 else "policies"


def _missed(run: Run) -> Float[np.ndarray, "_ objective"]:
    """The requested returns that are not executed."""
    found = run.coverage_set
    if not run.takes_commands:
        return found.requested[:0]
    return found.requested[~reached_mask(found.requested, found.executed, found.slack)]


def _scatter(axes: Axes, run: Run, spec: EnvironmentSpec) -> None:
    coverage_set = run.coverage_set
    if spec.front is not None:
        axes.scatter(
            spec.front.returns[:, 0],
            spec.front.returns[:, 1],
            s=130,
            facecolors="none",
            edgecolors=KNOWN,
            linewidths=1.5,
            label=f"{spec.front.status} front",
        )
    missed = _missed(run)
    if len(missed):
        axes.scatter(
            *missed.T,
            marker="x",
            color=MISSED,
            label="requested, not executed",
        )
    executed = coverage_set.executed
    label = "executed" if run.is_executed else "in the data, NOT EXECUTED"
    axes.scatter(executed[:, 0], executed[:, 1], s=36, color=EXECUTED, label=label, zorder=3)
    for index, point in enumerate(coverage_set.executed):
        if len(coverage_set) <= MOST_IDS:
            axes.annotate(
                str(index),
                point,
                textcoords="offset points",
                xytext=(7, 5),
                fontsize=8,
                color="#444",
            )
    axes.set_xlabel(objective_label(spec.objectives[0]))
    axes.set_ylabel(objective_label(spec.objectives[1]))
    whole_ticks(axes, executed)
    tidy(axes)


def _parallel(axes: Axes, run: Run, spec: EnvironmentSpec) -> None:
    coverage_set = run.coverage_set
    executed = coverage_set.front
    known = np.zeros((0, spec.num_objectives)) if spec.front is None else spec.front.returns
    missed = _missed(run)
    everything = np.concatenate([executed, known, missed])
    low, high = everything.min(axis=0), everything.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)
    position = np.arange(spec.num_objectives)
    handles = []
    if len(known):
        for point in (known - low) / extent:
            axes.plot(position, point, color=KNOWN, lw=3, alpha=_alpha(known) / 2, zorder=1)
        name = f"{spec.front.status} front" if spec.front is not None else ""
        handles.append(Line2D([], [], color=KNOWN, lw=3, alpha=0.6, label=name))
    scaled = (executed - low) / extent
    first = scaled[:, 0]
    spread = np.ptp(first) if len(first) else 0.0
    shades = (first - first.min()) / spread if spread > 0 else np.full(len(first), 0.5)
    colours = matplotlib.colormaps["viridis"](shades)
    # In random order: otherwise the lines with most of the first objective would hide others.
    for index in np.random.default_rng(0).permutation(len(scaled)):
        axes.plot(position, scaled[index], color=colours[index], alpha=_alpha(executed), zorder=2)
    colour = matplotlib.colormaps["viridis"](0.5)
    drawn = "executed" if run.is_executed else "in the data, NOT EXECUTED"
    handles.append(
        Line2D([], [], color=colour, label=f"{drawn}, coloured by {spec.objective_names[0]}")
    )
    if len(missed):
        for point in (missed - low) / extent:
            axes.plot(position, point, ls="--", color=MISSED, alpha=_alpha(missed), zorder=3)
        handles.append(Line2D([], [], color=MISSED, ls="--", label="requested, not executed"))
    draw_scales(axes, spec.objectives, low, high)
    _write_ids(axes, scaled, np.flatnonzero(coverage_set.front_mask))
    axes.legend(handles=handles, frameon=False, loc="upper center", ncols=3, fontsize=9,
                bbox_to_anchor=(0.5, -0.14))  # fmt: skip


def _alpha(points: Float[np.ndarray, "point objective"]) -> float:
    """How opaque the line of each of these points is drawn."""
    return max(0.08, min(0.8, 40 / max(len(points), 1)))


def _write_ids(
    axes: Axes, scaled: Float[np.ndarray, "point objective"], ids: Int[np.ndarray, " point"]
) -> None:
    """Write the ids of a few policies beside the last scale, those at one height together."""
    if len(ids) > MOST_IDS:
        return
    heights: dict[float, list[str]] = {}
    for height, number in zip(scaled[:, -1].tolist(), ids.tolist(), strict=True):
        heights.setdefault(round(height / 0.035) * 0.035, []).append(str(number))
    for height, numbers in heights.items():
        axes.annotate(
            ", ".join(numbers),
            (scaled.shape[1] - 1, height),
            textcoords="offset points",
            xytext=(6, -3),
            fontsize=8,
            color="#444",
        )
