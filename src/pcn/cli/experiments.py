"""The common part of `pcn reproduce` and `pcn sweep`: show a plan, or carry it out."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.markup import escape
from rich.table import Table

from pcn.cli.experiment_display import ExperimentDisplay
from pcn.cli.interrupt import stop_on_interrupt
from pcn.cli.screen import complain, console, print_table, program, quoted
from pcn.errors import Stopped
from pcn.experiments.execution.abstract import AbstractExecutor
from pcn.experiments.execution.local import LocalExecutor
from pcn.experiments.experiment import Outcome, carry_out_plan, fetch_uploaded, unfinished
from pcn.experiments.overview import Overview, duration
from pcn.experiments.plan import Plan, PlannedRun, shard_of
from pcn.experiments.preparation import Preparation, prepare
from pcn.experiments.speeds import ORIGIN, Speeds
from pcn.runs.request import CHECKPOINT_SECONDS


@dataclass(frozen=True, kw_only=True)
class ExecutionOptions:
    """How the runs of a plan are carried out."""

    jobs: int | None = None
    """Worker processes, one core each; by default as many as there are cores."""
    ray: Annotated[str | None, tyro.conf.arg(metavar="auto|HOST:PORT")] = None
    """Carry the runs out on a Ray cluster: the one that this machine is in, or the one with this
    head node. All its nodes must see the experiment's folder under the same path, unless runs are
    uploaded."""
    upload: Annotated[str | None, tyro.conf.arg(metavar="URL")] = None
    """Where workers store runs if machines share no path: any URL of fsspec, such as
    `s3://bucket/study` (with the package s3fs). The command downloads the uploads to --out."""
    shard: str | None = None
    """Carry out only a part of the runs, `i/n` with i from 1 to n: for several machines that share
    the folder, or the jobs of a scheduler. The job that ends last writes the results of all."""
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    """Least time between two checkpoints of a run."""
    dry_run: bool = False
    """Show the plan and how long it takes; nothing is trained or written."""

    def execute(self, plan: Plan, folder: Path) -> bool:
        """Carry out a plan, or show it; True if all its runs are finished afterwards."""
        executor = self._executor()
        runs = plan.runs if self.shard is None else shard_of(plan.runs, self.shard)
        if self.upload is not None and not self.dry_run:
            executor.check(folder, self.upload)
            fetch_uploaded(self.upload, plan.runs, folder)
        preparation = prepare(plan, folder)
        show_plan(preparation, runs, executor.num_jobs)
        if self.dry_run:
            return False
        if self.upload is None:
            executor.check(folder)
        overview = Overview(preparation, runs, executor.num_jobs)
        display = ExperimentDisplay(console, overview)
        with stop_on_interrupt(folder, shlex.join(sys.argv[1:])) as stop:
            with display.shown():
                outcome = carry_out_plan(
                    preparation,
                    executor,
                    runs=runs,
                    tell=display,
                    should_stop=stop.is_set,
                    checkpoint_seconds=self.checkpoint_seconds,
                    upload=self.upload,
                )
            if outcome.stopped and not outcome.disk_full:
                raise Stopped(folder)
        show_outcome(outcome)
        if self.upload is not None:  # by other shards, too
            fetch_uploaded(self.upload, plan.runs, folder)
        missing = unfinished(preparation)
        console.print(
            f"{len(plan.runs) - len(missing)} of {len(plan.runs)} runs are finished in "
            f"{quoted(folder)}"
        )
        return not missing

    def _executor(self) -> AbstractExecutor:
        if self.ray is None:
            return LocalExecutor(self.jobs)
        from pcn.experiments.execution.cluster import RayExecutor

        return RayExecutor(self.ray, self.jobs)


def show_plan(preparation: Preparation, runs: tuple[PlannedRun, ...], jobs: int) -> None:
    """Print what is going to be trained, and how long that takes."""
    speeds = Speeds(preparation.folder, preparation.plan.runs)
    done = {run.place for run in preparation.finished}
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("environment", "runs"):
        table.add_column(title)
    for title in ("steps each", "seeds", "finished", "time left"):
        table.add_column(title, justify="right")
    rows: dict[tuple[str, str], list[PlannedRun]] = {}
    for run in runs:
        rows.setdefault((run.group, run.label), []).append(run)
    total: float | None = 0.0
    for (group, label), members in rows.items():
        steps = preparation.total_steps[group, label]
        missing = [run for run in members if run.place not in done]
        times = [speeds.seconds(run, steps, first=run is missing[0]) for run in missing]
        left = _sum(times)
        total = _sum([total, left])
        table.add_row(
            escape(group), escape(label), f"{steps:,}", str(len(members)),
            str(len(members) - len(missing)), duration(left),
        )  # fmt: skip
    print_table(table)
    if preparation.sentence:
        console.print(preparation.sentence)
    scaled = "" if preparation.plan.scale == 1 else f", scaled by {preparation.plan.scale:g}"
    if total is None:
        console.print(
            f"{len(runs)} runs{scaled}, {jobs} at once; how long they take is not known yet"
        )
        return
    console.print(
        f"{len(runs)} runs{scaled}: about {duration(total)} of processor time left, "
        f"{duration(total / jobs)} with {jobs} at once"
    )
    source = "runs finished in this folder, else " if speeds.measured_here else ""
    console.print(f"[dim]Speeds: {source}a table that was {ORIGIN}.[/]")


def _sum(times: Sequence[float | None]) -> float | None:
    """The sum; None if one of them is not known."""
    known = [seconds for seconds in times if seconds is not None]
    return sum(known) if len(known) == len(times) else None


def show_outcome(outcome: Outcome) -> None:
    """Report failed runs and their logs; the exit code is 1 then."""
    for failure in outcome.failures:
        complain(f"{failure.name} failed: {failure.sentence}; see {failure.log}")
    if outcome.disk_full:
        complain(
            "the disk is full: all runs were stopped, nothing that was saved is lost; "
            "make room and start the same command again"
        )
    elif outcome.failures:
        complain(f"`{program()} {shlex.join(sys.argv[1:])}` tries failed runs again")
    if outcome.failures:
        sys.exit(1)
