"""The interface of every way to execute a plan."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from pcn.errors import UserError
from pcn.experiments.execution.task import ShouldStop, Task, Tell


class AbstractExecutor(ABC):
    """Carries out tasks, several at once, each in its own process."""

    @property
    @abstractmethod
    def num_jobs(self) -> int:
        """How many runs it carries out at once."""

    @abstractmethod
    def check(self, folder: Path, upload: str | None = None) -> None:
        """Raise a `UserError` if it cannot run, or its processes cannot write to the folder.

        With a URL to `upload` to, only this process needs the folder, and the others need the URL.
        """

    @abstractmethod
    def execute(self, tasks: Sequence[Task], tell: Tell, should_stop: ShouldStop) -> None:
        """Carry out all tasks in order, and report how each begins, advances and ends.

        A run whose process is lost continues from its checkpoint. Once `should_stop` returns True,
        active runs save a checkpoint and no other run begins.
        """


def make_writable(folder: Path) -> None:
    """Create a folder if needed; a `UserError` says that it cannot be written to, or is a run's."""
    if (folder / "config.json").exists():
        raise UserError(f"{folder} is the folder of a run; choose another --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot create {folder}: {error.strerror or error}") from None
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write to {folder}")
