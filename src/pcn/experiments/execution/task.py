"""One run of a plan, carried out in any process."""

import dataclasses
import errno
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pcn.errors import Stopped, UserError
from pcn.experiments.execution.uploads import TravellingRun, Uploads
from pcn.experiments.plan import PlannedRun
from pcn.experiments.status import Status, log_file, read_status
from pcn.processor_time import cpu_seconds
from pcn.runs.events import Advanced, Collecting, Event, Noticed, Started
from pcn.runs.folder import RunFolder
from pcn.runs.training import carry_out

TELL_SECONDS = 0.5
"""Least time between two reports of a run's progress."""

Ending = Literal["done", "failed", "stopped", "lost"]


@dataclass(frozen=True)
class Task:
    """A run to be carried out, as plain data for any process."""

    folder: Path
    """The experiment's folder."""
    run: PlannedRun
    checkpoint_seconds: float
    take_over: bool = False
    """Whether the process that wrote the run is known to be lost."""
    upload: str | None = None
    """The URL that the run is uploaded to, where machines share no path."""

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.folder / self.run.place

    @property
    def name(self) -> str:
        """The name of the run, unique in its plan."""
        return self.run.place.as_posix()

    def to_json(self) -> dict[str, Any]:
        """The form in which it is sent to another process."""
        return {
            "folder": str(self.folder),
            "run": self.run.to_json(),
            "checkpoint_seconds": self.checkpoint_seconds,
            "take_over": self.take_over,
            "upload": self.upload,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Task":
        """The task that `to_json` wrote."""
        given = {**content, "folder": Path(content["folder"])}
        return cls(**{**given, "run": PlannedRun.from_json(content["run"])})


@dataclass(frozen=True)
class Moved:
    """The progress of a run."""

    name: str
    steps: int
    total_steps: int
    phase: str


@dataclass(frozen=True)
class Ended:
    """How an attempt of a run ended."""

    name: str
    ending: Ending
    """`stopped` by the user; `lost` with the process that it was in."""
    sentence: str = ""
    """The reason, if it failed."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: float = 0.0
    """The largest memory of the process."""
    disk_full: bool = False
    """Whether the disk was full, so that every other run will fail, too."""


@dataclass(frozen=True)
class Began:
    """A run begins or continues."""

    name: str


TaskEvent = Began | Moved | Ended
Tell = Callable[[TaskEvent], None]
"""A function that receives the events of runs."""
ShouldStop = Callable[[], bool]
"""A function that returns whether active runs should save a checkpoint and end."""


def perform(task: Task, tell: Tell, should_stop: ShouldStop) -> Ended:
    """Carry out a run, or the rest of it; its output goes to its log."""
    if task.upload is None:
        return _perform(task, tell, should_stop, lambda: None)
    with TemporaryDirectory(prefix="pcn-") as folder:
        here = dataclasses.replace(task, folder=Path(folder))
        try:
            travelling = TravellingRun(Uploads(task.upload), task.name, here.folder)
            travelling.fetch()
            ended = _perform(here, tell, should_stop, travelling.upload_checkpoint)
            travelling.upload()
        except (OSError, UserError) as error:
            return Ended(task.name, "failed", _error_message(error), disk_full=_is_full(error))
        return ended


def _perform(task: Task, tell: Tell, should_stop: ShouldStop, saved: Callable[[], None]) -> Ended:
    """Carry out a run in its folder; `saved` is called when there may be a new checkpoint."""
    path = task.path
    started, cpu_before = time.perf_counter(), cpu_seconds()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        before = read_status(path)
        log = log_file(path)
        status = dataclasses.replace(
            before, state="running", attempt=before.attempt + 1, log=log.name, sentence=""
        )
        status.write(path)
        with output_into(log):
            ending = _carry_out(task, status.attempt, tell, should_stop, saved)
    except Exception as error:
        # Not even the log could be written.
        return Ended(task.name, "failed", _error_message(error), disk_full=_is_full(error))
    ended = dataclasses.replace(
        ending,
        seconds=time.perf_counter() - started,
        cpu_seconds=cpu_seconds() - cpu_before,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )
    with suppress(OSError, UserError):  # the run's folder holds the request
        if read_status(path).attempt == status.attempt:  # otherwise another process has taken over
            _status_after(status, ended).write(path)
    return ended


def _carry_out(
    task: Task, attempt: int, tell: Tell, should_stop: ShouldStop, saved: Callable[[], None]
) -> Ended:
    last_reported, phase = 0.0, "training"

    def report(event: Event) -> None:
        nonlocal last_reported, phase
        if isinstance(event, Started):
            print(f"{_now()} {event.settings.algorithm} at step {event.steps:,}")
        elif isinstance(event, Noticed):
            print(f"{_now()} {event.sentence}")
        elif isinstance(event, Advanced | Collecting):
            if isinstance(event, Advanced):
                phase = event.phase
                saved()
            if time.monotonic() - last_reported >= TELL_SECONDS:
                last_reported = time.monotonic()
                # If nobody reads the events any more, `should_stop` will end the run.
                with suppress(BrokenPipeError):
                    tell(Moved(task.name, event.steps, event.total_steps, phase))

    path = task.path
    print(f"{_now()} attempt {attempt} in process {os.getpid()}")
    try:
        if path.exists():
            folder = RunFolder.open(path)
            if folder.finished:
                return Ended(task.name, "done")
            carry_out(
                folder,
                report=report,
                stop=should_stop,
                checkpoint_seconds=task.checkpoint_seconds,
                take_over=task.take_over,
            )
        else:
            request = dataclasses.replace(
                task.run.request, out=path, checkpoint_seconds=task.checkpoint_seconds
            )
            carry_out(request, report=report, stop=should_stop)
    except Stopped:
        print(f"{_now()} stopped after a checkpoint")
        return Ended(task.name, "stopped")
    except Exception as error:
        if isinstance(error, UserError):
            print(f"{_now()} {error}")
        else:
            traceback.print_exc(file=sys.stdout)
        return Ended(task.name, "failed", _error_message(error), disk_full=_is_full(error))
    print(f"{_now()} done")
    return Ended(task.name, "done")


@contextmanager
def output_into(log: Path) -> Iterator[None]:
    """Append the output of this process and of its children to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [(number, os.dup(number)) for number in (1, 2)]
    streams = sys.stdout, sys.stderr
    with log.open("a", buffering=1, encoding="utf-8") as file:
        try:
            for number, _ in kept:
                os.dup2(file.fileno(), number)
            sys.stdout = sys.stderr = file
            yield
        finally:
            sys.stdout, sys.stderr = streams
            for number, copy in kept:
                os.dup2(copy, number)
                os.close(copy)


def _status_after(status: Status, ended: Ended) -> Status:
    return dataclasses.replace(
        status,
        state=ended.ending if ended.ending in ("done", "failed") else "waiting",
        seconds=round(status.seconds + ended.seconds, 3),
        cpu_seconds=round(status.cpu_seconds + ended.cpu_seconds, 3),
        sentence=ended.sentence,
    )


def _error_message(error: Exception) -> str:
    """An error in one sentence."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.strerror or error}: {error.filename or 'while writing'}"
    return traceback.format_exception_only(error)[-1].strip().splitlines()[0]


def _is_full(error: BaseException | None) -> bool:
    """Whether the disk was full, also if the error says so in other words."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return error is not None and _is_full(error.__context__)


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")
