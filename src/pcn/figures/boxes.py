"""Box plots by the number of objectives and algorithm, a panel for each metric."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pcn.figures.canvas import panels
from pcn.figures.styles import Style, styles_of

Groups = Mapping[str, Mapping[int, Float[np.ndarray, " run"]]]
"""By label and number of objectives: a number for each run."""
SPREAD = 0.8
"""The part of the distance between two numbers of objectives that boxes fill."""


def boxes_figure(
    title: str, metrics: Mapping[str, Groups], names: Mapping[str, str] | None = None
) -> Figure:
    """A box for each label at each number of objectives; whiskers reach 1.5 times the box.

    `names` are those of the labels in the legend.
    """
    labels = list(dict.fromkeys(label for groups in metrics.values() for label in groups))
    numbers = sorted({n for groups in metrics.values() for by_n in groups.values() for n in by_n})
    styles = styles_of(labels)
    figure, all_axes = panels(len(metrics), 1.5 + 4.2 * len(metrics), 4.4)
    width = SPREAD / len(labels)
    for axes, (metric, groups) in zip(all_axes, metrics.items(), strict=True):
        for label, by_number in groups.items():
            offset = (labels.index(label) - (len(labels) - 1) / 2) * width
            for number, values in by_number.items():
                _box(axes, numbers.index(number) + offset, 0.8 * width, values, styles[label])
        for between in range(len(numbers) - 1):
            axes.axvline(between + 0.5, color="#ddd", lw=0.8, zorder=0)
        axes.set_xticks(range(len(numbers)), [str(n) for n in numbers])
        axes.set_xlim(-0.6, len(numbers) - 0.4)
        axes.set_xlabel("number of objectives n")
        axes.set_title(metric, fontsize=10)
        axes.grid(axis="y", alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    shown = names or {label: label for label in labels}
    handles = [
        Line2D([], [], color=styles[label].colour, lw=5, alpha=0.6, label=shown[label])
        for label in labels
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle(title, fontsize=11)
    return figure


def _box(
    axes: Axes, x: float, width: float, values: Float[np.ndarray, " run"], style: Style
) -> None:
    """One box with its median, whiskers and outliers.

    `Axes.boxplot` would do, but it settles matplotlib's backend for the whole process.
    """
    (found,) = boxplot_stats(values)
    left, right, colour = x - width / 2, x + width / 2, style.colour
    axes.fill_between([left, right], found["q1"], found["q3"], fc=colour, ec=colour, alpha=0.35)
    for near, far in (("q1", "whislo"), ("q3", "whishi")):
        axes.plot([x, x], [found[near], found[far]], color=colour, lw=1.2)
        axes.plot([x - width / 4, x + width / 4], [found[far]] * 2, color=colour, lw=1.2)
    axes.plot([left, right], [found["med"]] * 2, color=colour, lw=2)
    axes.plot([x] * len(found["fliers"]), found["fliers"], ".", color=colour, ms=4)
