"""Live overview of an experiment: a table in a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from pcn.experiments.execution.task import Began, Ended, TaskEvent
from pcn.experiments.overview import Overview, duration

LINE_SECONDS = 60.0
"""Where there is no terminal, a line says at least this often how far everything is."""


class ExperimentDisplay:
    """Shows the events of an execution; call it with each of them, while it is `shown`."""

    def __init__(self, console: Console, overview: Overview) -> None:
        self._console = console
        self._overview = overview
        self._last_line = time.monotonic()

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Keep a table up to date where there is a terminal."""
        if not self._console.is_terminal:
            yield
            return
        with Live(
            get_renderable=self._picture,
            console=self._console,
            refresh_per_second=2,
            transient=True,
        ):
            yield

    def __call__(self, event: TaskEvent) -> None:
        """Take the event in, and show what it changes."""
        self._overview(event)
        if isinstance(event, Ended):
            self._console.print(self._ended_line(event))
        elif not self._console.is_terminal and isinstance(event, Began):
            self._console.print(f"{escape(event.name)} begins")
        silent = time.monotonic() - self._last_line
        if not self._console.is_terminal and silent >= LINE_SECONDS:
            self._last_line = time.monotonic()
            self._console.print(self.summary())

    def summary(self) -> str:
        """How far everything is, in one line."""
        overview = self._overview
        return (
            f"{len(overview.done)} of {overview.total} runs done, {len(overview.underway)} "
            f"running, {overview.waiting} waiting, {len(overview.failed)} failed · "
            f"time left: {duration(overview.seconds_left)}"
        )

    def _ended_line(self, event: Ended) -> str:
        name = escape(event.name)
        if event.ending == "failed":
            return f"[bold red]{name} failed[/]: {escape(event.sentence)}"
        if event.ending == "lost":
            return f"{name} goes on elsewhere: {escape(event.sentence)}"
        if event.ending == "stopped":
            return f"{name} stopped; its checkpoint is kept"
        counted = f"{len(self._overview.done)} of {self._overview.total}"
        left = duration(self._overview.seconds_left)
        return f"{name} done in {duration(event.seconds)} · {counted} · time left: {left}"

    def _picture(self) -> RenderableType:
        table = Table(box=None, pad_edge=False, show_header=False)
        for name, run in list(self._overview.underway.items()):
            table.add_row(
                escape(name), run.phase, f"{run.share:.0%}", f"{duration(run.seconds)} so far"
            )
        return Group(table, self.summary())
