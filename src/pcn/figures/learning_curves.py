"""Hypervolume during training, of several algorithms over seeds."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from pcn.figures.canvas import new_figure, tidy
from pcn.figures.styles import styles_of

Line = tuple[
    Float[np.ndarray, " place"],
    Float[np.ndarray, " place"],
    Float[np.ndarray, " place"],
    Float[np.ndarray, " place"],
]
"""Places, and there: the middle, the low and the high end of the interval."""
FAR_APART = 10.0
"""Algorithms whose trainings differ more than that in length are drawn on a log scale."""

SHORT = 14
"""Up to this many characters, four labels fit side by side in a legend."""


def learning_curves_figure(
    title: str,
    curves: Mapping[str, Line],
    *,
    labels: list[str],
    x_label: str,
    y_label: str,
    best: float | None = None,
) -> Figure:
    """A line with its interval for each label; `best` is the known front's hypervolume.

    `labels` are all labels of the comparison, so that colours agree with those of other figures.
    """
    figure, axes = new_figure(7.0, 4.8)
    styles = styles_of(labels)
    if best is not None:
        axes.axhline(best, color="#777", lw=1, ls="--", label=f"known front: {best:.6g}")
    for label, (x, middle, low, high) in curves.items():
        colour = styles[label].colour
        # Between two evaluations a run keeps the value of the first.
        axes.step(x, middle, where="post", color=colour, lw=1.6, label=label)
        axes.plot(x[-1:], middle[-1:], marker="o", ms=4, color=colour)
        if np.isfinite(low).all():
            axes.fill_between(x, low, high, step="post", color=colour, alpha=0.15, lw=0)
    ends = [float(x[-1]) for x, *_ in curves.values()]
    starts = [float(x[0]) for x, *_ in curves.values()]
    if max(ends) > FAR_APART * min(ends) and min(starts) > 0:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_title(title, fontsize=11)
    tidy(axes, legend=False)
    columns = 4 if max(map(len, curves)) <= SHORT else 2
    figure.legend(loc="outside lower center", ncols=columns, frameon=False)
    return figure
