"""Probability of improvement as a square: rows beside columns, a square for each metric."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from pcn.figures.canvas import panels

LETTER = 0.07
"""Inches that a letter of a label takes."""


def improvement_figure(
    title: str, squares: Mapping[str, Float[np.ndarray, "label other"]], labels: Sequence[str]
) -> Figure:
    """How likely a seed of the row's label beats one of the column's; 0.5 is a draw."""
    size = 1.2 + 0.62 * len(labels)
    longest = LETTER * max(map(len, labels))
    width, height = 1.4 + longest + size * len(squares), size + 0.6 + longest
    figure, all_axes = panels(len(squares), width, height)
    image = None
    for number, (axes, (metric, square)) in enumerate(zip(all_axes, squares.items(), strict=True)):
        # Orange is worse, purple is better: everyone tells these apart.
        image = axes.imshow(square, vmin=0, vmax=1, cmap="PuOr")
        for row, column in np.argwhere(np.isfinite(square)):
            probability = square[row, column]
            dark = abs(probability - 0.5) > 0.25
            axes.text(column, row, f"{probability:.2f}", ha="center", va="center",
                      fontsize=9, color="white" if dark else "black")  # fmt: skip
        axes.set_xticks(range(len(labels)), labels, rotation=45, ha="right", rotation_mode="anchor",
                        fontsize=8)  # fmt: skip
        axes.set_yticks(range(len(labels)), labels if number == 0 else [], fontsize=8)
        axes.set_title(metric, fontsize=10)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    if image is not None:
        figure.colorbar(image, ax=all_axes, shrink=0.8, label="P(row better than column)")
    figure.suptitle(title, fontsize=11)
    return figure
