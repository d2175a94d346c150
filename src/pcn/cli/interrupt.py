"""Ctrl-C while training: finish the iteration, save a checkpoint, say how to go on."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from pcn.cli.screen import program
from pcn.errors import Stopped


@contextmanager
def stop_on_interrupt(folder: Path, go_on: str | None = None) -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; a second one stops at once.

    `go_on` is the command with which to continue, by default `resume` and the folder.
    """
    stop = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    except (KeyboardInterrupt, Stopped):
        command = f"resume {folder}" if go_on is None else go_on
        hint = f"; continue with `{program()} {command}`" if folder.exists() else ""
        raise KeyboardInterrupt(hint) from None
    finally:
        signal.signal(signal.SIGINT, before)
