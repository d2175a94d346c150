"""Ctrl-C while training: finish the iteration, save a checkpoint, say how to go on."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from pcn.cli.screen import program
from pcn.runs import training


@contextmanager
def stopping_at(folder: Path) -> Iterator[None]:
    """The first Ctrl-C stops after the iteration under way; a second one stops at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        if training.stop_requested.is_set():
            raise KeyboardInterrupt
        training.stop_requested.set()

    training.stop_requested.clear()
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    except KeyboardInterrupt:
        hint = f"; continue with `{program()} resume {folder}`" if folder.exists() else ""
        raise KeyboardInterrupt(hint) from None
    finally:
        signal.signal(signal.SIGINT, before)
