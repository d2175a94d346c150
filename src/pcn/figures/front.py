"""The front of a run: executed returns, requested returns and the best that is known."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pcn.envs.spec import EnvironmentSpec
from pcn.figures.canvas import new_figure, tidy
from pcn.figures.scales import draw_scales, objective_label, whole_ticks
from pcn.metrics import found_mask, reached_mask
from pcn.runs.run import Run

KNOWN, EXECUTED, MISSED = "#9aa5b1", "#0b6fb8", "#d1495b"


def front_figure(run: Run) -> Figure:
    """Two objectives as a scatter plot, more as parallel coordinates."""
    spec = run.spec
    if spec.num_objectives == 2:
        figure, axes = new_figure(6.4, 4.6)
        _scatter(axes, run, spec)
    else:
        figure, axes = new_figure(7.6, 4.6)
        _parallel(axes, run, spec)
    axes.set_title(_title(run, spec), fontsize=11)
    return figure


def _title(run: Run, spec: EnvironmentSpec) -> str:
    """How much of the known front was executed, and how many policies return what was requested."""
    executed = run.coverage_set.front
    order = run.coverage_set.order
    title = f"{spec.name}: {len(executed)} {order.adjective} policies"
    if spec.front is not None:
        known = spec.front.returns[order.non_dominated_mask(spec.front.returns)]
        found = found_mask(executed, known, tolerances=run.coverage_set.tolerances)
        title += f", {found.sum()} of {len(known)} points of the {spec.front.status} front"
    if not run.is_executed:
        return f"{title}\nNOT EXECUTED: returns of logged episodes"
    share, count = run.metrics["fidelity"]["exact"], len(run.coverage_set)
    return f"{title}\n{round(share * count)} of {count} policies return what was requested"


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
    missed = ~reached_mask(coverage_set.requested, coverage_set.executed, coverage_set.slack)
    if missed.any():
        axes.scatter(
            *coverage_set.requested[missed].T,
            marker="x",
            color=MISSED,
            label="requested, not executed",
        )
    executed = coverage_set.executed
    label = "executed" if run.is_executed else "in the data, NOT EXECUTED"
    axes.scatter(executed[:, 0], executed[:, 1], s=36, color=EXECUTED, label=label, zorder=3)
    for index, point in enumerate(coverage_set.executed):
        if len(coverage_set) <= 30:
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
    executed = run.coverage_set.front
    low, high = executed.min(axis=0), executed.max(axis=0)
    scaled = (executed - low) / np.where(high > low, high - low, 1.0)
    position = np.arange(spec.num_objectives)
    colours = matplotlib.colormaps["viridis"](scaled[:, 0])
    # In random order: in their own, those with most of the first objective would hide the others.
    for index in np.random.default_rng(0).permutation(len(scaled)):
        alpha = max(0.08, min(0.8, 40 / len(scaled)))
        axes.plot(position, scaled[index], color=colours[index], alpha=alpha)
    draw_scales(axes, spec.objectives, low, high)
