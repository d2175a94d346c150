"""What every way of executing a plan has in common."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from pcn.experiments.execution.task import ShouldStop, Task, Tell


class AbstractExecutor(ABC):
    """Carries out tasks, several at once, each in another process."""

    @property
    @abstractmethod
    def num_jobs(self) -> int:
        """How many runs it carries out at once."""

    @abstractmethod
    def check(self, folder: Path) -> None:
        """Raise a `UserError` if it cannot run, or its processes cannot write to the folder."""

    @abstractmethod
    def execute(self, tasks: Sequence[Task], tell: Tell, should_stop: ShouldStop) -> None:
        """Carry out all tasks, in their order, and tell how each begins, moves and ends.

        A run whose process is lost is continued from its checkpoint. Once `should_stop` says so,
        runs under way save a checkpoint and no other one is begun.
        """
