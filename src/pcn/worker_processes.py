"""Worker processes that exchange JSON messages with this process, one message per line."""

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import TextIO


def start_worker(
    module: str, *arguments: str, variables: Mapping[str, str] | None = None
) -> "subprocess.Popen[str]":
    """Start `python -m module` with pipes as its input and output.

    The user's modules are found in the same folders as in this process.
    """
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **(variables or {}), "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def take_streams() -> tuple[TextIO, TextIO]:
    """Reserve standard input and output for the caller; all other code gets empty streams."""
    source = os.fdopen(os.dup(0), "r", encoding="utf-8")
    sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)
    os.dup2(empty, 1)
    os.close(empty)
    return source, sink
