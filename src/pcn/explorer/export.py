"""One policy to save: a small run folder as a zip file."""

import io
import tempfile
import zipfile
from pathlib import Path

from pcn.runs.run import Run

FIRST_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a zip file knows: the same policy is the same file."""


def zipped_policy(run: Run, index: int, *, name: str) -> bytes:
    """The policy as a run of its own, in a folder called `name`; `pcn play` and `load` open it."""
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / name
        run.taking(index).save(folder)
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(folder.iterdir()):
                entry = zipfile.ZipInfo(f"{name}/{path.name}", FIRST_DATE)
                entry.external_attr = 0o644 << 16
                file.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
