"""Live progress while training: a bar in a terminal, plain lines elsewhere."""

import logging
import math
from dataclasses import replace
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from pcn.cli.screen import number, print_sentence, vector
from pcn.envs.evidence import Evidence
from pcn.envs.registry import package_of
from pcn.envs.spec import EnvironmentSpec
from pcn.runs.events import Advanced, Collecting, Event, Noticed, Probing, Started

PLAIN_LINES = 10
"""Lines that a short run prints without a terminal."""
SECONDS_BETWEEN_LINES = 15.0
"""A slow run prints a line this often after iterations."""
COLLECTING_SECONDS = 30.0
"""A slow environment prints a line this often within an iteration."""
WIDE = 110
"""Columns of a terminal that is wide enough for everything."""
COMPILED = "kept on disk for the next run"

LOGGER = logging.getLogger("pcn")
"""The logger of the library's own warnings, such as a worker that does not answer."""


class Display:
    """Shows the events of a training; use it as a context manager and call it with each event."""

    def __init__(self, console: Console, doing: str) -> None:
        self._console = console
        self._doing = doing
        self.started = False
        """Whether training has begun."""
        self._bar: Progress | None = None
        self._hypervolume = "-"
        self._last_line = 0
        self._last_seconds = 0.0
        self._phase = "training"
        self._last_event: Advanced | None = None
        self._last_advanced: Advanced | None = None
        """The iteration that the last plain line of an iteration was about."""
        self._warnings = _Notes(self)

    def __enter__(self) -> "Display":
        LOGGER.addHandler(self._warnings)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        LOGGER.removeHandler(self._warnings)
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, Probing):
            print_sentence(
                f"Probing {escape(event.environment)} with random episodes, at most "
                f"{event.num_steps:,} steps: reference point, determinism, masks, step limit",
                self._console,
            )
        elif isinstance(event, Noticed):
            print_sentence(f"[bold]note[/]  {escape(event.sentence)}", self._console)
        elif isinstance(event, Started):
            self._start(event)
        elif isinstance(event, Collecting):
            self._collect(event)
        else:
            self._advance(event)

    def _start(self, event: Started) -> None:
        self.started = True
        print_sentence(first_line(self._doing, event), self._console)
        if not self._console.is_terminal:
            package = package_of(event.settings.environment)
            if package is not None:  # these take minutes, and nothing advances meanwhile
                self._console.print(f"compiling {package} together with the network ({COMPILED})")
            return
        self._bar = Progress(
            BarColumn(bar_width=8 if self._is_narrow else 20),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(compact=True),
            # This column takes the remaining width; in a narrow terminal its end is cut off.
            TextColumn(
                "{task.description}",
                table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
            ),
            console=self._console,
            transient=True,
            expand=True,
        )
        self._task = self._bar.add_task(f"compiling ({COMPILED})", total=None)
        self._bar.start()

    @property
    def _is_narrow(self) -> bool:
        """Whether a bar, its text and the number of all steps would not fit into a line."""
        return self._console.is_terminal and self._console.width < WIDE

    def _steps(self, event: Advanced | Collecting) -> str:
        of_all = "" if self._is_narrow else f" of {event.total_steps:,}"
        return f"{event.steps:,}{of_all} steps"

    def _text(self, event: Advanced) -> str:
        counted = f"{self._steps(event)} · front {event.front_size}"
        loss = "-" if math.isnan(event.loss) else f"{event.loss:.3f}"
        if event.phase != "training":
            return f"{event.phase} · {counted}"
        return f"{counted} · executed hypervolume {self._hypervolume} · loss {loss}"

    def _collect(self, event: Collecting) -> None:
        """Show that steps are being taken."""
        last = self._last_event
        if last is None:
            text = f"{self._steps(event)} · collecting the first episodes"
        else:
            text = self._text(replace(last, steps=event.steps, seconds=event.seconds))
        if self._bar is not None:
            self._bar.update(
                self._task, completed=event.steps, total=event.total_steps, description=text
            )
        elif event.seconds - self._last_seconds >= COLLECTING_SECONDS:
            self._last_seconds = event.seconds
            self._console.print(f"{text} · {event.seconds:.0f} s")

    def _advance(self, event: Advanced) -> None:
        self._last_event = event
        if event.evaluation is not None:
            self._hypervolume = number(event.evaluation.executed_hypervolume)
        text = self._text(event)
        if self._bar is not None:
            self._bar.update(
                self._task, completed=event.steps, total=event.total_steps, description=text
            )
            return
        share = min(event.steps / event.total_steps, 1.0)
        line = int(share * PLAIN_LINES)
        late = event.seconds - self._last_seconds >= SECONDS_BETWEEN_LINES
        if line > self._last_line or event.phase != self._phase or late:
            self._last_line, self._phase = max(line, self._last_line), event.phase
            self._last_seconds = event.seconds
            self._console.print(f"{text} · {event.seconds:.0f} s{self._remaining(event)}")
            self._last_advanced = event

    def _remaining(self, event: Advanced) -> str:
        """The time that is left at the pace since the line before; the first line has no pace.

        The seconds before the first line are mostly compilation, and those of the part before an
        interruption.
        """
        last = self._last_advanced
        if last is None or event.phase != "training" or event.steps <= last.steps:
            return ""
        pace = (event.seconds - last.seconds) / (event.steps - last.steps)
        left = pace * max(event.total_steps - event.steps, 0)
        return f", about {left:.0f} s left" if left >= 1 else ", less than 1 s left"


class _Notes(logging.Handler):
    """Shows warnings as notes."""

    def __init__(self, display: Display) -> None:
        super().__init__(logging.WARNING)
        self._display = display

    def emit(self, record: logging.LogRecord) -> None:
        """Show one."""
        self._display(Noticed(record.getMessage()))


_ROLES = {
    "train": "the environment goes on from them",
    "execute": "the environment only executes the final policies",
    "none": "no environment: nothing will be executed",
}
"""The role of the environment, by `interaction`."""


def first_line(doing: str, event: Started) -> str:
    """The first line: what is trained, and what probing found."""
    settings = event.settings
    discount = settings.config.discount
    facts = [
        "config as given" if settings.preset is None else f"{settings.preset} preset",
        f"seed {settings.seed}",
        *([] if discount == 1 else [f"returns discounted by {discount:g}"]),
    ]
    line = f"{doing} {settings.algorithm} on {escape(settings.environment)} ({', '.join(facts)})"
    if settings.data is not None:
        line += (
            f", from {settings.data['episodes']:,} logged episodes "
            f"({settings.data['steps']:,} steps); {_ROLES[settings.data['interaction']]}"
        )
    if event.num_probe_episodes and event.steps <= event.num_probe_steps:
        line += (
            f"; probed with {event.num_probe_episodes} random episodes, "
            f"{event.num_probe_steps:,} steps: {found_sentence(event.spec, event.evidence)}"
        )
    return line


def found_sentence(spec: EnvironmentSpec, evidence: Evidence | None) -> str:
    """What random episodes found about an environment."""
    facts = ["deterministic" if spec.deterministic else "stochastic"]
    if evidence is not None:
        facts[0] += f" ({evidence.determinism_summary})"
    limit = f"step limit {spec.step_limit:,}"
    if evidence is not None:
        limit += f" ({evidence.step_limit_source})"
    facts += [limit, f"reference point {vector(spec.reference_point)}"]
    if evidence is not None and evidence.seed_respected is False:
        facts.append("it ignores its seed, so that runs cannot be repeated (see --workers)")
    return ", ".join(facts)
