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
def stop_on_interrupt(folder: Path) -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; a second one stops at once."""
    stop = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    except (KeyboardInterrupt, Stopped):
        hint = f"; continue with `{program()} resume {folder}`" if folder.exists() else ""
        raise KeyboardInterrupt(hint) from None
    finally:
        signal.signal(signal.SIGINT, before)
