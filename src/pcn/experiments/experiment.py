"""Carry out the unfinished part of a plan in a folder."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pcn.errors import UserError
from pcn.experiments.execution.abstract import AbstractExecutor
from pcn.experiments.execution.task import Ended, ShouldStop, Task, TaskEvent, Tell
from pcn.experiments.execution.uploads import Uploads
from pcn.experiments.plan import PlannedRun
from pcn.experiments.preparation import Preparation
from pcn.experiments.speeds import Speeds
from pcn.experiments.status import log_file
from pcn.runs.folder import RunFolder
from pcn.runs.request import CHECKPOINT_SECONDS


@dataclass(frozen=True)
class Failure:
    """A run that failed."""

    name: str
    sentence: str
    log: Path


@dataclass
class Outcome:
    """The result of carrying out a plan, or a part of it."""

    failures: list[Failure] = field(default_factory=list)
    stopped: bool = False
    """Whether it was stopped before every run had ended."""
    disk_full: bool = False
    """Whether the disk was full."""


def carry_out_plan(
    preparation: Preparation,
    executor: AbstractExecutor,
    *,
    runs: Sequence[PlannedRun] | None = None,
    tell: Tell = lambda event: None,
    should_stop: ShouldStop = lambda: False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    upload: str | None = None,
) -> Outcome:
    """Carry out the unfinished runs of a plan, or those of `runs` among them.

    Finished runs are left alone, interrupted ones continue from their checkpoints, and a run that
    fails does not stop the others. With a URL to `upload` to, workers have folders of their own,
    and their uploads are downloaded to the experiment's folder when a run ends.
    """
    folder = preparation.folder.absolute()
    preparation.plan.write(folder)
    chosen = {run.place for run in (preparation.plan.runs if runs is None else runs)}
    missing = [run for run in preparation.missing if run.place in chosen]
    tasks = [
        Task(folder, run, checkpoint_seconds, upload=upload)
        for run in _ordered(missing, preparation)
    ]
    outcome = Outcome()

    def hear(event: TaskEvent) -> None:
        if isinstance(event, Ended):
            if upload is not None:
                with suppress(UserError):  # it is tried again at the end
                    fetch_uploaded(upload, preparation.plan.runs, folder)
            if event.ending == "failed":
                log = log_file(preparation.folder / event.name)
                outcome.failures.append(Failure(event.name, event.sentence, log))
                outcome.disk_full = outcome.disk_full or event.disk_full
            outcome.stopped = outcome.stopped or event.ending == "stopped"
        tell(event)

    if tasks:
        executor.execute(tasks, hear, lambda: outcome.disk_full or should_stop())
    outcome.stopped = outcome.stopped or should_stop() or outcome.disk_full
    return outcome


def fetch_uploaded(url: str, runs: Sequence[PlannedRun], folder: Path) -> None:
    """Download uploads of runs that are not finished in a folder."""
    finished = [run.place.as_posix() for run in runs if RunFolder(folder / run.place).finished]
    Uploads(url).fetch([run.place.as_posix() for run in runs], folder, finished)


def unfinished(preparation: Preparation) -> tuple[PlannedRun, ...]:
    """Runs of the plan that are not finished: waiting, failed, or of another shard."""
    return tuple(
        run
        for run in preparation.plan.runs
        if not RunFolder(preparation.folder / run.place).finished
    )


def _ordered(runs: Sequence[PlannedRun], preparation: Preparation) -> list[PlannedRun]:
    """Seed by seed, long runs first, so that few processes wait for the last one."""
    speeds = Speeds(preparation.folder, preparation.plan.runs)

    def order(run: PlannedRun) -> tuple[int, float]:
        return run.request.seed, -(speeds.seconds(run, preparation.steps_of(run)) or 0.0)

    return sorted(runs, key=order)
