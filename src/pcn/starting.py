"""Ctrl-C while the program `pcn` is still importing what it needs: it ends without a traceback."""

import os
import signal
import sys
from types import FrameType


def quiet_while_starting() -> None:
    """Let Ctrl-C end this process at once if it is the program `pcn`; otherwise do nothing."""
    called = os.path.basename(sys.argv[0]) if sys.argv else ""
    # `python -m pcn` has no other name yet.
    if called in ("pcn", "pcn.exe", "-m") and signal.getsignal(signal.SIGINT) not in (
        signal.SIG_IGN,
        None,
    ):
        signal.signal(signal.SIGINT, _leave)


def end_of_starting() -> None:
    """Let Ctrl-C raise a `KeyboardInterrupt` again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> None:
    del number, frame
    # An exception in the middle of an import may be swallowed, or told as something else.
    os.write(2, b"pcn: interrupted\n")
    os._exit(130)
