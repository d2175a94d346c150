"""Positional arguments of commands, and their names in help."""

from pathlib import Path
from typing import Annotated

import tyro

RunFolders = Annotated[
    tuple[Path, ...],
    tyro.conf.Positional,
    tyro.conf.arg(metavar="RUN [RUN ...]", help_behavior_hint=""),
]
"""Folders of runs."""
