"""`pcn resume`: continue an interrupted run."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from pcn.cli.display import Display
from pcn.cli.interrupt import stop_on_interrupt
from pcn.cli.run_screen import show_run
from pcn.cli.screen import console
from pcn.errors import UserError
from pcn.runs import loggers
from pcn.runs.folder import RunFolder
from pcn.runs.request import CHECKPOINT_SECONDS
from pcn.runs.run import load
from pcn.runs.training import carry_out


@dataclass(frozen=True)
class Resume:
    """Continue an interrupted run; the result is that of an uninterrupted one."""

    run: tyro.conf.Positional[Path]
    """The run's folder."""
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    """Least time between two checkpoints."""
    take_over: bool = False
    """Whether to continue it although another process writes it, which then stops."""

    def __call__(self) -> None:
        """Train on from the last checkpoint."""
        folder = RunFolder.open(self.run)
        if folder.finished:
            load(self.run)
            raise UserError(
                f"{self.run} is finished already; look at it with `pcn explore {self.run}`"
            )
        logs = loggers.logs_again(self.run)
        display = Display(console, "Resuming")
        with display, stop_on_interrupt(self.run, at_once=lambda: not display.started) as stop:
            run = carry_out(
                folder,
                report=loggers.all_of(display, *logs),
                stop=stop,
                checkpoint_seconds=self.checkpoint_seconds,
                take_over=self.take_over,
            )
        show_run(run)
