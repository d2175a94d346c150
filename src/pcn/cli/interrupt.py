"""Ctrl-C and signals during training: finish the iteration, save a checkpoint, say how to
continue."""

import os
import shlex
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from pcn.cli.screen import discard_output, program
from pcn.errors import Stopped

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Ctrl-C, `kill` or a scheduler at its time limit, and a terminal that is closed."""


class Interrupted(KeyboardInterrupt):
    """A signal ended the command."""

    def __init__(self, hint: str, code: int) -> None:
        super().__init__(hint)
        self.code = code
        """What the program exits with: 128 and the signal's number, as shells count."""


@contextmanager
def stop_on_interrupt(
    folder: Path | None, go_on: str | None = None, *, at_once: Callable[[], bool] = lambda: False
) -> Iterator[threading.Event]:
    """An event that the first signal sets; a second signal stops at once.

    `go_on` is the command that continues, by default `resume` and the folder. The first signal
    stops `at_once` where that returns True, because there is nothing to save.
    """
    stop = threading.Event()
    received = signal.SIGINT

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal received
        del frame
        received = signal.Signals(number)
        if received == getattr(signal, "SIGHUP", None):
            discard_output()  # the terminal is gone, so printing would fail
        if stop.is_set() or at_once():
            raise KeyboardInterrupt
        stop.set()
        with suppress(OSError):
            # Not by `print`, which may be under way already.
            os.write(2, b"\npcn: stopping after this iteration; once more stops at once\n")

    before = {number: signal.signal(number, interrupt) for number in SIGNALS}
    try:
        yield stop
    except (KeyboardInterrupt, Stopped):
        command = f"resume {shlex.quote(str(folder))}" if go_on is None else go_on
        hint = f"; continue with `{program()} {command}`" if folder and folder.exists() else ""
        raise Interrupted(hint, 128 + received) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def end_on_interrupt() -> Iterator[None]:
    """End the command at the first signal, with a sentence."""
    with stop_on_interrupt(None, at_once=lambda: True):
        yield
