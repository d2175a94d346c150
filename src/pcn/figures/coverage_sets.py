"""Several coverage sets in one picture: two objectives, three with drop lines, or more."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from mpl_toolkits.mplot3d.axes3d import Axes3D

from pcn.envs.spec import Objective
from pcn.figures.canvas import new_figure, set_title, tidy
from pcn.figures.scales import draw_scales, objective_label, whole_ticks
from pcn.figures.styles import Style, styles_of

KNOWN = "#9aa5b1"
Sets = Mapping[str, Float[np.ndarray, "_ objective"]]
"""The points of each label."""


def coverage_sets_figure(
    title: str,
    sets: Sets,
    objectives: Sequence[Objective],
    *,
    front: Float[np.ndarray, "point objective"] | None = None,
    front_name: str = "known front",
    names: Mapping[str, str] | None = None,
) -> Figure:
    """Draw the points of each label; `front` is drawn behind them, `names` are the legend's."""
    styles = styles_of(list(sets))
    if names is not None:
        styles = {names[label]: style for label, style in styles.items()}
        sets = {names[label]: points for label, points in sets.items()}
    if len(objectives) == 3:
        return _space(title, sets, objectives, styles, front, front_name)
    figure, axes = new_figure(7.0, 4.8) if len(objectives) == 2 else new_figure(8.4, 4.8)
    set_title(axes, [title])
    if len(objectives) == 2:
        _plane(axes, sets, objectives, styles, front, front_name)
    else:
        _parallel(axes, sets, objectives, styles, front, front_name)
    return figure


def _name(label: str, points: Float[np.ndarray, "point objective"]) -> str:
    return f"{label} ({len(points)} {'point' if len(points) == 1 else 'points'})"


def _plane(
    axes: Axes,
    sets: Sets,
    objectives: Sequence[Objective],
    styles: Mapping[str, Style],
    front: Float[np.ndarray, "point objective"] | None,
    front_name: str,
) -> None:
    if front is not None:
        name = _name(front_name, front)
        axes.scatter(front[:, 0], front[:, 1], s=170, color=KNOWN, alpha=0.3, lw=0, label=name)
    for label, points in sets.items():
        style = styles[label]
        axes.scatter(
            points[:, 0],
            points[:, 1],
            s=60,
            marker=style.marker,
            linewidths=1.5,
            label=_name(label, points),
            zorder=3,
            **_paint(style),
        )
    axes.set_xlabel(objective_label(objectives[0]))
    axes.set_ylabel(objective_label(objectives[1]))
    whole_ticks(axes, np.concatenate(list(sets.values())))
    tidy(axes)


def _paint(style: Style) -> dict[str, Any]:
    """Colours of a marker: markers made of lines have one colour, others an edge and a face."""
    if style.marker in "+x":
        return {"color": style.colour}
    return {"edgecolors": style.colour, "facecolors": style.face}


def _space(
    title: str,
    sets: Sets,
    objectives: Sequence[Objective],
    styles: Mapping[str, Style],
    front: Float[np.ndarray, "point objective"] | None,
    front_name: str,
) -> Figure:
    """Three objectives: a line drops from each point to its shadow on the floor."""
    figure = Figure(figsize=(8.0, 6.4))  # a constrained layout cuts the labels of three axes
    FigureCanvasAgg(figure)
    axes: Axes3D = figure.add_axes((0.0, 0.0, 0.95, 0.95), projection="3d")
    everything = np.concatenate([*sets.values(), *([] if front is None else [front])])
    lowest, highest = everything[:, 2].min(), everything[:, 2].max()
    floor = lowest - 0.15 * (highest - lowest if highest > lowest else 1.0)
    if front is not None:
        name = _name(front_name, front)
        axes.scatter(*front.T, s=110, color=KNOWN, alpha=0.45, lw=0, depthshade=False, label=name)
    for label, points in sets.items():
        style = styles[label]
        marks: dict[str, Any] = {"marker": style.marker, "depthshade": False, **_paint(style)}
        axes.scatter(*points.T, s=48, linewidths=1.5, label=_name(label, points), **marks)
        shadow = (points[:, 0], points[:, 1], np.full(len(points), floor))
        axes.scatter(*shadow, s=18, linewidths=0.8, alpha=0.4, **marks)
        for x, y, z in points:
            axes.plot([x, x], [y, y], [floor, z], ":", color=style.colour, lw=0.9, alpha=0.6)
    whole_ticks(axes, everything)
    axes.set_zlim(floor, highest + 0.05 * (highest - floor))
    axes.view_init(elev=24, azim=-60)
    axes.set_xlabel(objective_label(objectives[0]), labelpad=8)
    axes.set_ylabel(objective_label(objectives[1]), labelpad=8)
    axes.set_zlabel(objective_label(objectives[2]), labelpad=8)
    figure.suptitle(title, fontsize=11)
    figure.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.02, 0.95))
    return figure


def _parallel(
    axes: Axes,
    sets: Sets,
    objectives: Sequence[Objective],
    styles: Mapping[str, Style],
    front: Float[np.ndarray, "point objective"] | None,
    front_name: str,
) -> None:
    """More than three objectives: a line for each point, from scale to scale."""
    everything = np.concatenate([*sets.values(), *([] if front is None else [front])])
    low, high = everything.min(axis=0), everything.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)
    alpha = max(0.05, min(0.8, 60 / len(everything)))
    for point in [] if front is None else (front - low) / extent:
        axes.plot(np.arange(len(low)), point, color=KNOWN, lw=3, alpha=alpha / 2, zorder=1)
    rows = [(label, point) for label, points in sets.items() for point in points]
    # In random order: otherwise the last algorithm would hide the others.
    for index in np.random.default_rng(0).permutation(len(rows)):
        label, point = rows[index]
        scaled = (point - low) / extent
        axes.plot(np.arange(len(scaled)), scaled, color=styles[label].colour, alpha=alpha)
    draw_scales(axes, objectives, low, high)
    handles = [
        Line2D([], [], color=styles[label].colour, label=_name(label, points))
        for label, points in sets.items()
    ]
    if front is not None:
        name = _name(front_name, front)
        handles.insert(0, Line2D([], [], color=KNOWN, lw=3, alpha=0.6, label=name))
    axes.legend(
        handles=handles, frameon=False, loc="upper center", ncols=3, bbox_to_anchor=(0.5, -0.12)
    )
