"""Objectives as axes: their labels, and one upright scale for each, side by side."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pcn.envs.spec import Objective

MOST_UPRIGHT = 5
"""Labels of more objectives than these overlap, and are turned."""

MOST_TICKS = 7
"""More of them overlap in three dimensions."""


def objective_label(objective: Objective) -> str:
    """Name and unit; what is to be minimised is drawn as its negative.

    >>> objective_label(Objective("time", "steps", "minimise"))
    'minus time [steps]'
    """
    unit = f" [{objective.unit}]" if objective.unit else ""
    sign = "minus " if objective.direction == "minimise" else ""
    return f"{sign}{objective.name}{unit}"


def whole_ticks(axes: Axes, points: Float[np.ndarray, "point objective"]) -> None:
    """Ticks at whole numbers in those objectives that have nothing else."""
    scales = [getattr(axes, f"{name}axis") for name in "xyz"[: points.shape[1]]]
    for scale, values in zip(scales, points.T, strict=True):
        whole = np.array_equal(values, np.round(values))
        scale.set_major_locator(MaxNLocator(MOST_TICKS, integer=whole))


def draw_scales(
    axes: Axes,
    objectives: Sequence[Objective],
    low: Float[np.ndarray, " objective"],
    high: Float[np.ndarray, " objective"],
) -> None:
    """Draw the scales of parallel coordinates, from `low` at 0 to `high` at 1."""
    position = np.arange(len(objectives))
    labels = [objective_label(objective) for objective in objectives]
    if len(labels) > MOST_UPRIGHT:
        axes.set_xticks(position, labels, fontsize=8, rotation=25, ha="right")
    else:
        axes.set_xticks(position, labels, fontsize=8)
    axes.set_yticks([])
    for x, bottom, top in zip(position, low, high, strict=True):
        axes.vlines(float(x), -0.01, 1.01, color="#bbb", linewidth=0.8, zorder=0)
        # Adding zero makes no minus zero.
        axes.text(float(x), 1.05, f"{top + 0.0:.4g}", ha="center", fontsize=8)
        axes.text(float(x), -0.06, f"{bottom + 0.0:.4g}", ha="center", fontsize=8)
    axes.set_ylim(-0.1, 1.1)
    axes.spines[:].set_visible(False)
