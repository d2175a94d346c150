"""A process for tasks: configured once, and sharing its compiled programs."""

from pcn.compilation import configure_jax, programs_folder
from pcn.experiments.execution.programs import SharedPrograms
from pcn.experiments.execution.task import Ended, ShouldStop, Task, Tell, perform


class Bench:
    """Configures this process for one task after the other; create it before JAX is used."""

    def __init__(self) -> None:
        folder = programs_folder()
        self._programs = None if folder is None else SharedPrograms(folder)
        configure_jax(programs=None if self._programs is None else self._programs.own)

    def perform(self, task: Task, tell: Tell, should_stop: ShouldStop) -> Ended:
        """Carry out a task with the programs that others have compiled, and share new ones."""
        if self._programs is not None:
            self._programs.fetch()
        ended = perform(task, tell, should_stop)
        if self._programs is not None:
            self._programs.publish()
        return ended

    def clear(self) -> None:
        """Remove the files that only this process needs."""
        if self._programs is not None:
            self._programs.remove()
