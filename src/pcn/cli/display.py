"""Live progress while training: a bar in a terminal, plain lines elsewhere."""

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pcn.cli.screen import number
from pcn.runs import Report

PLAIN_LINES = 10
"""How many lines a run prints where there is no terminal."""


class Display:
    """Call it with every `Report`; use it as a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None
        self._hypervolume = "-"
        self._last_line = 0
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                TextColumn("{task.percentage:>3.0f}%"),
                TimeRemainingColumn(compact=True),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task("compiling (kept on disk for the next run)", total=None)

    def __enter__(self) -> "Display":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, report: Report) -> None:
        """Show where training stands."""
        if report.evaluation is not None:
            self._hypervolume = number(report.evaluation["executed_hypervolume"])
        text = (
            f"{min(report.steps, report.total_steps):>9,} of {report.total_steps:,} steps · "
            f"front {report.front_size} · executed hypervolume {self._hypervolume} · "
            f"loss {report.loss:.3f}"
        )
        if self._bar is not None:
            self._bar.update(
                self._task, completed=report.steps, total=report.total_steps, description=text
            )
            if report.steps >= report.total_steps:
                self._bar.update(self._task, description="making every policy executable")
            return
        share = min(report.steps / report.total_steps, 1.0)
        if int(share * PLAIN_LINES) > self._last_line:
            self._last_line = int(share * PLAIN_LINES)
            left = report.seconds / share * (1 - share)
            self._console.print(f"{text} · {report.seconds:.0f} s, about {left:.0f} s left")
