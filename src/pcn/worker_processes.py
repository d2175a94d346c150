"""Processes that work for this one: JSON goes in, JSON comes out, a line for each message."""

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import TextIO


def start_worker(
    module: str, *arguments: str, variables: Mapping[str, str] | None = None
) -> "subprocess.Popen[str]":
    """Start `python -m module`; its input and output are pipes.

    Modules of the user's are found where this process finds them.
    """
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **(variables or {}), "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def take_streams() -> tuple[TextIO, TextIO]:
    """Standard input and output for the caller alone; for all others they are empty."""
    source = os.fdopen(os.dup(0), "r", encoding="utf-8")
    sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)
    os.dup2(empty, 1)
    os.close(empty)
    return source, sink
