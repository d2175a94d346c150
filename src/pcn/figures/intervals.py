"""Metrics of several algorithms with their intervals, a panel for each metric."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from pcn.figures.canvas import panels
from pcn.figures.styles import styles_of

Estimates = Mapping[str, tuple[float, float, float]]
"""By label: a number and the ends of its interval, which may be NaN."""


def intervals_figure(title: str, metrics: Mapping[str, Estimates]) -> Figure:
    """A panel for each metric; in each a line for each label."""
    labels = list(dict.fromkeys(label for estimates in metrics.values() for label in estimates))
    styles = styles_of(labels)
    height = 1.3 + 0.34 * len(labels)
    figure, all_axes = panels(len(metrics), 2.0 + 2.9 * len(metrics), height)
    for number, (axes, (metric, estimates)) in enumerate(
        zip(all_axes, metrics.items(), strict=True)
    ):
        for label, (value, low, high) in estimates.items():
            row = len(labels) - 1 - labels.index(label)
            colour = styles[label].colour
            if np.isfinite([low, high]).all():
                axes.plot([low, high], [row, row], color=colour, lw=8, alpha=0.35,
                          solid_capstyle="butt")  # fmt: skip
            axes.plot([value], [row], marker="|", color=colour, markersize=16, markeredgewidth=2.5)
        axes.set_yticks(range(len(labels)), reversed(labels) if number == 0 else [])
        axes.set_ylim(-0.6, len(labels) - 0.4)
        axes.set_xlabel(metric)
        axes.ticklabel_format(axis="x", useOffset=False, style="plain")
        axes.locator_params(axis="x", nbins=4)
        axes.margins(x=0.12)
        axes.grid(axis="x", alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, fontsize=11)
    return figure
