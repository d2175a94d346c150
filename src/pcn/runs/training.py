"""Training with a record: evaluations, checkpoints and, at the end, the files of a run."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.trainer import AbstractTrainer, Progress
from pcn.compilation import run_in_place, use_cache
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.lookup import found_again, name_of
from pcn.metrics import pygmo_for
from pcn.runs.folder import RunFolder
from pcn.runs.measures import figures
from pcn.runs.run import Run, load
from pcn.runs.settings import Settings

CHECKPOINT_SECONDS = 10.0
"""Least time between two checkpoints."""

stop_requested = threading.Event()
"""Set it to stop a training after the iteration under way, with a checkpoint."""

PROGRESS_COLUMNS = [
    "steps",
    "seconds",
    "loss",
    "archive_hypervolume",
    "archive_cardinality",
    "executed_hypervolume",
    "executed_cardinality",
    "fidelity",
]


@dataclass(frozen=True)
class Report:
    """What a caller is told while training goes on."""

    steps: int
    total_steps: int
    seconds: float
    loss: float
    front_size: int
    evaluation: dict[str, float] | None
    """The new row of `progress.csv`, when there is one."""


@dataclass
class _Record:
    """What is known of a training besides the trainer's own state."""

    rows: list[list[Any]] = field(default_factory=list)
    seconds: float = 0.0


def train(
    environment: str | Callable[..., gym.Env[Any, Any]],
    *,
    arguments: Mapping[str, Any] | None = None,
    algorithm: str = "pcn",
    preset: str = "default",
    seed: int = 0,
    out: str | Path | None = None,
    report: Callable[[Report], None] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    **hyperparameters: Any,
) -> Run:
    """Train on an environment; with `out`, record the run in that new folder.

    The environment is a benchmark's name, a Gymnasium id, `module:function`, or a function that
    makes a Gymnasium environment with vector rewards.
    `arguments` are the environment's own, where it takes any. Any hyperparameter of the
    algorithm can be given by name; functions and classes among them as they are.
    """
    _refuse_negative(checkpoint_seconds)
    settings = Settings.of(
        environment if isinstance(environment, str) else name_of(environment),
        arguments=arguments,
        algorithm=algorithm,
        preset=preset,
        seed=seed,
        **{
            name: name_of(value) if callable(value) else value
            for name, value in hyperparameters.items()
        },
    )
    trainer = _trainer(settings)
    if out is not None:
        for name in (settings.environment, *vars(settings.config).values()):
            if isinstance(name, str) and not found_again(name):
                raise UserError(
                    f"a run on disk needs functions that can be found again, and {name} cannot: "
                    "give one at the top of a module, no lambda, or leave out `out`"
                )
    folder = None if out is None else RunFolder.create(Path(out), settings)
    return _complete(settings, trainer, _Record(), folder, report, checkpoint_seconds)


def resume(
    path: str | Path,
    *,
    report: Callable[[Report], None] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> Run:
    """Continue an interrupted run to the result it would have had without the interruption."""
    _refuse_negative(checkpoint_seconds)
    folder = RunFolder.open(Path(path))
    if folder.finished:
        return load(path)
    settings = folder.settings()
    trainer = _trainer(settings)
    record = _Record()
    saved = folder.read_checkpoint()
    if saved is not None:
        snapshot, kept = saved
        try:
            trainer.restore(snapshot)
            record = _Record(**kept)
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{folder.path / 'checkpoint.npz'} is damaged: {error}") from None
    return _complete(settings, trainer, record, folder, report, checkpoint_seconds)


def _refuse_negative(checkpoint_seconds: float) -> None:
    if checkpoint_seconds < 0:
        raise UserError(f"checkpoint_seconds must not be negative, got {checkpoint_seconds:g}")


def _trainer(settings: Settings) -> AbstractTrainer:
    use_cache()
    run_in_place()
    algorithm = ALGORITHMS[settings.algorithm]
    environment = settings.make()
    pygmo_for(environment.spec.num_objectives)  # hours before it would be missed
    environment.prepare()
    return algorithm.trainer(environment, settings.config, seed=settings.seed)


def _complete(
    settings: Settings,
    trainer: AbstractTrainer,
    record: _Record,
    folder: RunFolder | None,
    report: Callable[[Report], None] | None,
    checkpoint_seconds: float,
) -> Run:
    spec = settings.make().spec
    started = time.perf_counter() - record.seconds
    last_checkpoint = time.perf_counter()

    def save() -> None:
        record.seconds = time.perf_counter() - started
        if folder is not None:
            folder.write_progress(PROGRESS_COLUMNS, record.rows)
            folder.write_checkpoint(trainer.snapshot(), rows=record.rows, seconds=record.seconds)

    while not trainer.done:
        progress = trainer.iterate()
        seconds = time.perf_counter() - started
        row = _row(progress, seconds, spec)
        if row is not None:
            record.rows.append(row)
        if report is not None:
            report(
                Report(
                    steps=progress.steps,
                    total_steps=settings.config.total_steps,
                    seconds=seconds,
                    loss=progress.loss,
                    front_size=len(progress.archive),
                    evaluation=None
                    if row is None
                    else dict(zip(PROGRESS_COLUMNS, row, strict=True)),
                )
            )
        if stop_requested.is_set():
            save()
            raise KeyboardInterrupt
        if time.perf_counter() - last_checkpoint >= checkpoint_seconds:
            save()
            last_checkpoint = time.perf_counter()
    save()
    outcome = trainer.outcome()
    metrics = {
        "steps": trainer.steps,
        "seconds": round(time.perf_counter() - started, 3),
        "policies": len(outcome.coverage_set),
        **figures(outcome.coverage_set, spec, outcome.archive),
        **outcome.facts,
    }
    if folder is not None:
        folder.write_weights(dict(outcome.arrays))
        folder.write_coverage_set(outcome.coverage_set, spec.objective_names)
        folder.write_metrics(metrics)
    return Run(
        settings=settings,
        coverage_set=outcome.coverage_set,
        metrics=metrics,
        progress=(PROGRESS_COLUMNS, record.rows),
        weights=dict(outcome.arrays),
        path=None if folder is None else folder.path,
    )


def _row(progress: Progress, seconds: float, spec: EnvironmentSpec) -> list[Any] | None:
    if progress.execution is None:
        return None
    figure = figures(progress.execution, spec)
    return [
        progress.steps,
        round(seconds, 3),
        progress.loss,
        figure["archive"]["hypervolume"],
        figure["archive"]["cardinality"],
        figure["executed"]["hypervolume"],
        figure["executed"]["cardinality"],
        figure["fidelity"]["exact"],
    ]
