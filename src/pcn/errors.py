"""Errors that callers are meant to catch."""

from pathlib import Path


class UserError(ValueError):
    """Something asked for cannot be done; the message says what and, if possible, what instead.

    The command line prints it as one sentence and exits with code 2.
    """


class Stopped(Exception):
    """A training was stopped by its caller after an iteration.

    `path` is the run's folder, which holds a checkpoint to resume from; None where there is none.
    """

    def __init__(self, path: Path | None) -> None:
        super().__init__("stopped" if path is None else f"stopped; `pcn resume {path}` goes on")
        self.path = path
