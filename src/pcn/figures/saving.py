"""Figures as files."""

import io
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from pcn.errors import UserError
from pcn.serialisation.files import write_bytes


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the file's ending, and close it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lstrip(".").lower(), dpi=160)
    plt.close(figure)
    try:
        write_bytes(path, buffer.getvalue())
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
