"""Figures and their files, without matplotlib's global state."""

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pcn.errors import UserError
from pcn.serialisation.files import write_bytes

LETTERS_PER_INCH = 10.5
"""Characters of a title per inch."""
BESIDE_AXES = 0.7
"""Inches that labels take beside the axes."""


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure of that size in inches, and its axes."""
    figure, (axes,) = panels(1, width, height)
    return figure, axes


def panels(number: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of that size in inches with axes side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, [figure.add_subplot(1, number, index + 1) for index in range(number)]


def set_title(axes: Axes, lines: Sequence[str]) -> None:
    """Write a title of several lines; those that are wider than the axes are broken."""
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes are part of a figure"
    most = int(LETTERS_PER_INCH * (figure.get_figwidth() - BESIDE_AXES))
    broken = [part for line in lines for part in textwrap.wrap(line, most)]
    axes.set_title("\n".join(escaped(part) for part in broken), fontsize=11)


def escaped(text: str) -> str:
    """Text that matplotlib shows literally: a dollar sign would begin a formula."""
    return text.replace("$", r"\$")


def tidy(axes: Axes, *, legend: bool = True) -> None:
    """A faint grid, no box, and a legend where anything has a name."""
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    if legend and axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False)


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the file's ending."""
    buffer = io.BytesIO()
    kind = path.suffix.lstrip(".").lower()
    # Without a date the same figure is the same file.
    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
    figure.savefig(buffer, format=kind, dpi=160, metadata=metadata)
    try:
        write_bytes(path, buffer.getvalue())
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
