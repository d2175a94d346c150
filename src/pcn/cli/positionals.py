"""What commands take without an option's name, and how help calls it."""

from pathlib import Path
from typing import Annotated

import tyro

RunFolders = Annotated[
    tuple[Path, ...],
    tyro.conf.Positional,
    tyro.conf.arg(metavar="RUN [RUN ...]", help_behavior_hint=""),
]
"""Folders of runs."""
