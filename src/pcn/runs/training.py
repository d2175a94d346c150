"""Carrying out a request: training with evaluations and checkpoints, and the files of a run."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pcn.algorithms import ALGORITHMS
from pcn.algorithms.config import AlgorithmConfig
from pcn.algorithms.trainer import AbstractTrainer, Progress, Snapshot
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import Stopped, UserError
from pcn.metrics import pygmo_for
from pcn.runs.circumstances import cpu_seconds, made_with
from pcn.runs.events import Advanced, Event, Noticed, Started
from pcn.runs.folder import RunFolder
from pcn.runs.measures import metrics_of
from pcn.runs.progress import Evaluation
from pcn.runs.request import CHECKPOINT_SECONDS, Request
from pcn.runs.run import Run, load
from pcn.runs.settling import Settled, check_checkpoint_seconds, reopen, settle

Report = Callable[[Event], None]
Stop = threading.Event | Callable[[], bool]


@dataclass
class _Record:
    """What is known of a training besides the trainer's own state."""

    evaluations: list[Evaluation] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    phases: Counter[str] = field(default_factory=Counter)
    """Environment steps of each phase."""
    notices: list[str] = field(default_factory=list)
    """What the user was told besides."""

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": [evaluation.row() for evaluation in self.evaluations],
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "phases": dict(self.phases),
            "notices": self.notices,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any], steps: int) -> "_Record":
        """The record in a checkpoint; in format 1 all `steps` were of the training itself."""
        return cls(
            [Evaluation.of_row(row) for row in content["rows"]],
            content["seconds"],
            content.get("cpu_seconds", 0.0),  # absent in the checkpoints of older runs
            Counter(content.get("phases", {"training": steps})),
            list(content.get("notices", [])),
        )


def train(
    environment: str | AbstractEnvironment | Callable[[], Any],
    *,
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
        config: Every hyperparameter, such as `PCNConfig(total_steps=50_000)`. It says which
            algorithm learns, and neither a preset nor the environment's recipe changes it.
        arguments: The environment's own arguments, where it takes any.
        algorithm: `pcn` (the default), `mones` or `ra`.
        preset: `default`; PCN also has `paper` and `authors`.
        seed: Seeds the network, the environment and every choice of the algorithm.
        out: The run's folder, which must not exist.
        report: Is called with events: `Probing` before random episodes find out about an unknown
            environment, `Started` once all is settled, `Advanced` after each
            iteration, and `Noticed` with a sentence that the user should read.
        stop: An event, or a function: once it is set, or returns True, training saves a checkpoint
            after the iteration under way and raises `Stopped`.
        checkpoint_seconds: Least time between two checkpoints.
        **hyperparameters: Single hyperparameters by name, such as `learning_rate=1e-3`; they win
            over `config`, preset and recipe. Functions and classes are given as they are.
    """
    request = Request(
        environment=environment,
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
) -> Run:
    """Continue an interrupted run; it ends in what it would have been without the interruption.

    A finished run is only loaded. `report`, `stop` and `checkpoint_seconds` are those of `train`.
    """
    folder = RunFolder.open(Path(path))
    if folder.finished:
        return load(path)
    return carry_out(folder, report=report, stop=stop, checkpoint_seconds=checkpoint_seconds)


def carry_out(
    job: Request | RunFolder,
    *,
    report: Report | None = None,
    stop: Stop | None = None,
    checkpoint_seconds: float | None = None,
) -> Run:
    """Do what a request says, or what is left to do in the folder of an unfinished run.

    The environment is made once, everything is checked before the folder is made, and `report` is
    told what was settled before training begins. `checkpoint_seconds` is the request's, unless it
    is given here.
    """
    if checkpoint_seconds is not None:
        check_checkpoint_seconds(checkpoint_seconds)
    elif isinstance(job, Request):
        checkpoint_seconds = job.checkpoint_seconds
    settled = settle(job, report) if isinstance(job, Request) else reopen(job)
    settings, environment = settled.settings, settled.environment
    try:
        pygmo_for(settled.spec.num_objectives)  # told now, not when the first metric needs it
        environment.prepare()
        trainer = ALGORITHMS[settings.algorithm].trainer(
            environment,
            settings.config,
            seed=settings.seed,
            steps_before=settled.probe["steps"],
        )
        record, folder = _Record(), None
        if isinstance(job, RunFolder):
            folder = job
            record = _restore(trainer, folder)
        elif job.out is not None:
            folder = RunFolder.create(job.out, settings, settled.spec, settled.probe)
        training = _Training(settled, trainer, record, folder, report or _ignore, _asker(stop))
        seconds = CHECKPOINT_SECONDS if checkpoint_seconds is None else checkpoint_seconds
        return training.complete(seconds)
    finally:
        environment.close()


def _ignore(event: Event) -> None:
    """The report of a caller who wants none."""


def _asker(stop: Stop | None) -> Callable[[], bool]:
    """A function that says whether to stop."""
    if stop is None:
        return lambda: False
    return stop.is_set if isinstance(stop, threading.Event) else stop


def _restore(trainer: AbstractTrainer, folder: RunFolder) -> _Record:
    """Bring the trainer into the state of the last checkpoint, if there is one."""
    saved = folder.read_checkpoint()
    if saved is None:
        return _Record()
    arrays, facts, kept = saved
    try:
        trainer.restore(Snapshot(arrays, facts))
        return _Record.from_json(kept, trainer.steps)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{folder.path / 'checkpoint.npz'} is damaged: {error}") from None


@dataclass
class _Training:
    """A training under way and its record."""

    settled: Settled
    trainer: AbstractTrainer
    record: _Record
    folder: RunFolder | None
    report: Report
    should_stop: Callable[[], bool]
    _started: float = 0.0
    _cpu_started: float = 0.0

    def complete(self, checkpoint_seconds: float) -> Run:
        """Iterate until the trainer is done, then write and return the run."""
        settled, trainer = self.settled, self.trainer
        self.report(
            Started(
                settled.settings,
                settled.spec,
                settled.probe["episodes"],
                settled.probe["steps"],
                settled.recipe,
                trainer.steps,
                settled.evidence,
            )
        )
        self._started = time.perf_counter() - self.record.seconds
        self._cpu_started = cpu_seconds() - self.record.cpu_seconds
        last_checkpoint = time.perf_counter()
        while not trainer.done:
            self._iterate()
            if self.should_stop():
                self._save()
                raise Stopped(None if self.folder is None else self.folder.path)
            if time.perf_counter() - last_checkpoint >= checkpoint_seconds:
                self._save()
                last_checkpoint = time.perf_counter()
        self._save()
        return self._end()

    def _iterate(self) -> None:
        before = self.trainer.steps
        progress = self.trainer.iterate()
        for sentence in self.trainer.take_notices():
            self.record.notices.append(sentence)
            self.report(Noticed(sentence))
        seconds = time.perf_counter() - self._started
        self.record.phases[progress.phase] += self.trainer.steps - before
        evaluation = evaluation_of(progress, seconds, self.settled.spec)
        if evaluation is not None:
            self.record.evaluations.append(evaluation)
        self.report(
            Advanced(
                steps=progress.steps,
                total_steps=self.settled.settings.config.total_steps,
                seconds=seconds,
                loss=progress.loss,
                front_size=len(progress.archive),
                phase=progress.phase,
                evaluation=evaluation,
            )
        )

    def _save(self) -> None:
        self.record.seconds = time.perf_counter() - self._started
        self.record.cpu_seconds = cpu_seconds() - self._cpu_started
        if self.folder is not None:
            snapshot = self.trainer.snapshot()
            self.folder.write_progress(self.record.evaluations)
            self.folder.write_checkpoint(snapshot.arrays, snapshot.facts, self.record.to_json())

    def _end(self) -> Run:
        settled, outcome = self.settled, self.trainer.outcome()
        settled.environment.close()  # the time of workers counts once they have ended
        phases = {"probing": settled.probe["steps"], **self.record.phases}
        metrics = {
            "steps": sum(phases.values()),
            "steps_by_phase": phases,
            "probe": dict(settled.probe),
            "seconds": round(time.perf_counter() - self._started, 3),
            "cpu_seconds": round(cpu_seconds() - self._cpu_started, 3),
            "policies": len(outcome.coverage_set),
            "tolerances": outcome.coverage_set.tolerance_vector.tolist(),
            **metrics_of(outcome.coverage_set, settled.spec, outcome.archive),
            **({"notices": self.record.notices} if self.record.notices else {}),
            **outcome.facts,
            "made_with": made_with(),
        }
        weights = dict(outcome.arrays)
        if self.folder is not None:
            self.folder.write_weights(weights)
            self.folder.write_coverage_set(outcome.coverage_set, settled.spec.objective_names)
            self.folder.write_metrics(metrics)
        return Run(
            settled.settings,
            outcome.coverage_set,
            metrics,
            self.record.evaluations,
            weights,
            spec=settled.spec,
            environment=settled.environment,
            path=None if self.folder is None else self.folder.path,
        )


def evaluation_of(progress: Progress, seconds: float, spec: EnvironmentSpec) -> Evaluation | None:
    """The row of `progress.csv` for an iteration; None if nothing was executed in it."""
    if progress.execution is None:
        return None
    metrics = metrics_of(progress.execution, spec)
    return Evaluation(
        steps=progress.steps,
        seconds=round(seconds, 3),
        loss=progress.loss,
        archive_hypervolume=metrics["archive"]["hypervolume"],
        archive_cardinality=metrics["archive"]["cardinality"],
        executed_hypervolume=metrics["executed"]["hypervolume"],
        executed_cardinality=metrics["executed"]["cardinality"],
        fidelity=metrics["fidelity"]["exact"],
    )
