"""Where tasks are carried out: a process that is set up once and shares its compiled programs."""

from pcn.compilation import configure_jax, programs_folder
from pcn.experiments.execution.programs import SharedPrograms
from pcn.experiments.execution.task import Ended, ShouldStop, Task, Tell, perform


class Bench:
    """This process, set up for one task after the other; to be made before JAX is used."""

    def __init__(self) -> None:
        folder = programs_folder()
        self._programs = None if folder is None else SharedPrograms(folder)
        configure_jax(programs=None if self._programs is None else self._programs.own)

    def perform(self, task: Task, tell: Tell, should_stop: ShouldStop) -> Ended:
        """Carry out a task with what others have compiled, and give them what it compiles."""
        if self._programs is not None:
            self._programs.fetch()
        ended = perform(task, tell, should_stop)
        if self._programs is not None:
            self._programs.publish()
        return ended

    def clear(self) -> None:
        """Remove what only this process needs."""
        if self._programs is not None:
            self._programs.remove()
