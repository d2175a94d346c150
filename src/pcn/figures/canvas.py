"""Figures and their files, without matplotlib's global state."""

import io
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pcn.errors import UserError
from pcn.serialisation.files import write_bytes


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure of that size in inches, and its axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the file's ending."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lstrip(".").lower(), dpi=160)
    try:
        write_bytes(path, buffer.getvalue())
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
