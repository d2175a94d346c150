"""Which runs are executed in a process of their own, and which in a thread of this one."""

from pcn.explorer.process_stage import ProcessStage
from pcn.explorer.shown_runs import ShownRun
from pcn.explorer.stage import AbstractStage
from pcn.explorer.thread_stage import ThreadStage


class Stages:
    """A stage for runs on disk, and one for runs that exist in this process only.

    Args:
        own_process: Whether runs on disk are executed in a process of their own, which can be ended
            when an environment hangs, rather than in a thread.
    """

    def __init__(self, *, own_process: bool = True) -> None:
        self.on_disk: AbstractStage = ProcessStage() if own_process else ThreadStage()
        self.in_memory = ThreadStage()

    def of(self, shown: ShownRun) -> AbstractStage:
        """The stage that executes policies of this run."""
        return self.on_disk if shown.is_on_disk else self.in_memory

    def close(self) -> None:
        """Stop what is under way, and free what was made."""
        self.on_disk.close()
        self.in_memory.close()
