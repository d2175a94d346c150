"""Carry out a request: train with evaluations and checkpoints, and write the files of a run."""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pcn.algorithms.config import AlgorithmConfig
from pcn.algorithms.trainer import AbstractTrainer, Snapshot
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.failures import close_all
from pcn.errors import UserError
from pcn.memory import telling_of_memory
from pcn.metrics import pygmo_for
from pcn.runs.events import Event, Report
from pcn.runs.folder import RunFolder
from pcn.runs.record import Record
from pcn.runs.request import CHECKPOINT_SECONDS, Request
from pcn.runs.run import Run, load
from pcn.runs.settled import Settled
from pcn.runs.settling import check_checkpoint_seconds, reopen, settle
from pcn.runs.training_loop import TrainingLoop

Stop = threading.Event | Callable[[], bool]


def train(
    environment: str | AbstractEnvironment | Callable[[], Any] | None = None,
    *,
    dataset: str | Path | None = None,
    execute_on: str | AbstractEnvironment | Callable[[], Any] | None = None,
    config: AlgorithmConfig | None = None,
    arguments: Mapping[str, Any] | None = None,
    algorithm: str | None = None,
    preset: str | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    report: Report | None = None,
    stop: Stop | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    **hyperparameters: Any,
) -> Run:
    """Train on an environment; with `out`, record the run in that new folder.

    Args:
        environment: A name: one of `pcn.envs.ENVIRONMENTS`, an id of Gymnasium or MO-Gymnasium, or
            `module:Name`. Or the object itself: a compiled environment, or a class or function
            that makes a compiled environment or a Gymnasium environment with vector rewards.
        dataset: Logged episodes to begin with: the folder of a finished run, an npz file or a
            Minari dataset. With an environment, training goes on from them; without one, it learns
            from them alone, and its results are marked as not executed.
        execute_on: With a dataset: an environment that only executes the final policies.
        config: Every hyperparameter, such as `PCNConfig(total_steps=50_000)`. It says which
            algorithm learns, and neither a preset nor the environment's recipe changes it.
        arguments: The environment's own arguments, where it takes any.
        algorithm: `pcn` (the default), `mones` or `ra`.
        preset: `default`; PCN also has `paper` and `authors`.
        seed: Seeds the network, the environment and every choice of the algorithm.
        out: The run's folder, which must not exist.
        report: Is called with events: `Probing` before random episodes find out about an unknown
            environment, `Started` once all is settled, `Advanced` after each iteration,
            `Collecting` every second or so while a Gymnasium environment runs episodes, and
            `Noticed` with a sentence that the user should read.
        stop: An event, or a function: once it is set, or returns True, training saves a checkpoint
            after the iteration under way and raises `Stopped`.
        checkpoint_seconds: Least time between two checkpoints.
        **hyperparameters: Single hyperparameters by name, such as `learning_rate=1e-3`; they win
            over `config`, preset and recipe. Functions and classes are given as they are.
    """
    if execute_on is not None and (dataset is None or environment is not None):
        raise UserError("execute_on needs a dataset, and no other environment")
    request = Request(
        environment=environment if execute_on is None else execute_on,
        dataset=dataset,
        only_execute=execute_on is not None,
        arguments=arguments or {},
        algorithm=algorithm,
        preset=preset,
        config=config,
        hyperparameters=hyperparameters,
        seed=seed,
        out=None if out is None else Path(out),
        checkpoint_seconds=checkpoint_seconds,
    )
    return carry_out(request, report=report, stop=stop)


def resume(
    path: str | Path,
    *,
    report: Report | None = None,
    stop: Stop | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    take_over: bool = False,
) -> Run:
    """Continue an interrupted run; the result is that of an uninterrupted one.

    A finished run is only loaded. A run that another process writes is refused; with `take_over`,
    this process replaces the other one, which then writes nothing more. `report`, `stop` and
    `checkpoint_seconds` are those of `train`.
    """
    folder = RunFolder.open(Path(path))
    if folder.finished:
        return load(path)
    return carry_out(
        folder,
        report=report,
        stop=stop,
        checkpoint_seconds=checkpoint_seconds,
        take_over=take_over,
    )


@telling_of_memory("give a smaller network, smaller batches, or fewer environments at once")
def carry_out(
    job: Request | RunFolder,
    *,
    report: Report | None = None,
    stop: Stop | None = None,
    checkpoint_seconds: float | None = None,
    take_over: bool = False,
) -> Run:
    """Carry out a request, or continue an unfinished run in its folder.

    The environment is created once. Everything is checked before the folder is created, and
    `report` is called with the settings before training begins. `checkpoint_seconds` is the
    request's, unless it is given here. While this process writes a folder, others are refused;
    `take_over` is that of `resume`.
    """
    if checkpoint_seconds is not None:
        check_checkpoint_seconds(checkpoint_seconds)
    elif isinstance(job, Request):
        checkpoint_seconds = job.checkpoint_seconds
    began_in = _working_folder()
    if isinstance(job, RunFolder):
        job = job.claim(take_over=take_over)
    folder = job if isinstance(job, RunFolder) else None
    settled: Settled | None = None
    loop: TrainingLoop | None = None
    try:
        settled = settle(job, report) if isinstance(job, Request) else reopen(job)
        pygmo_for(settled.spec.num_objectives)  # refused now, not when the first metric needs it
        settled.environment.prepare()
        trainer, record = settled.fresh_trainer(), Record()
        if folder is not None:
            trainer, record, more = _restored(settled.fresh_trainer, folder)
            settled = replace(settled, remarks=(*settled.remarks, *more))
        elif isinstance(job, Request) and job.out is not None:
            # An environment may have changed the working folder while it was probed.
            out = job.out if _working_folder() == began_in else began_in / job.out
            folder = RunFolder.create(out, settled.settings, settled.spec, settled.probe)
        loop = TrainingLoop(settled, trainer, record, folder, report or _ignore, _stopper(stop))
        seconds = CHECKPOINT_SECONDS if checkpoint_seconds is None else checkpoint_seconds
        return loop.complete(seconds)
    except BaseException as error:  # a training that has ended has closed it already
        if isinstance(error, UserError) and isinstance(job, Request) and folder is not None:
            with suppress(OSError, UserError):  # it has vanished, or another process has taken over
                folder.remove_unbegun()
        settled = settled if loop is None else loop.settled
        if settled is not None:
            close_all([settled.environment], settled.spec.name)
        raise
    finally:
        if folder is not None:
            folder.release()


def _working_folder() -> Path:
    """The working folder; where it was deleted, a name that stands for it."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path()


def _ignore(event: Event) -> None:
    """A report that ignores every event."""


def _stopper(stop: Stop | None) -> Callable[[], bool]:
    """Turn `stop` into a function that returns whether to stop."""
    if stop is None:
        return lambda: False
    return stop.is_set if isinstance(stop, threading.Event) else stop


def _restored(
    make_trainer: Callable[[], AbstractTrainer], folder: RunFolder
) -> tuple[AbstractTrainer, Record, list[str]]:
    """A trainer in the state of the last checkpoint, if there is one, and a notice about it.

    A damaged checkpoint is skipped for the one before it: the result is the same.
    """
    refusals: list[str] = []
    for path in folder.checkpoints():
        trainer = make_trainer()
        try:
            arrays, facts, kept = folder.read_checkpoint(path)
            trainer.restore(Snapshot(arrays, facts))
            if trainer.steps < 0:
                raise UserError(f"{path} is damaged: it has {trainer.steps} steps")
            record = Record.from_json(kept, trainer.steps)
        except UserError as error:
            message = str(error)
            refusals.append(message if str(path) in message else f"{path} is damaged: {message}")
        except Exception as error:  # damaged values can raise anything in a trainer
            refusals.append(f"{path} is damaged: {error!r}")
        else:
            passed = [f"{refusal}; the checkpoint before it is used" for refusal in refusals]
            return trainer, record, passed
    if refusals:
        raise UserError(refusals[0])
    return make_trainer(), Record(), []
