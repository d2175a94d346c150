"""The loop of a training: iterations, events and checkpoints until the run can be written."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pcn.algorithms.trainer import AbstractTrainer
from pcn.envs.failures import close_all
from pcn.errors import Stopped, UserError, resuming
from pcn.processor_time import cpu_seconds
from pcn.runs.circumstances import made_with
from pcn.runs.events import Advanced, Collecting, Noticed, Report, Started
from pcn.runs.folder import RunFolder
from pcn.runs.measures import metrics_of
from pcn.runs.record import Record, evaluation_of
from pcn.runs.run import Run
from pcn.runs.settled import Settled
from pcn.runs.writer import TakenOver

COLLECTING_SECONDS = 1.0
"""Least time between two reports during an iteration."""


@dataclass
class TrainingLoop:
    """A training and its record."""

    settled: Settled
    trainer: AbstractTrainer
    record: Record
    folder: RunFolder | None
    report: Report
    should_stop: Callable[[], bool]
    _started: float = 0.0
    _cpu_started: float = 0.0
    _failing: bool = False
    """Whether the last checkpoint could not be written."""
    _behind: bool = False
    """Whether the folder still describes a training that was begun again."""

    def complete(self, checkpoint_seconds: float) -> Run:
        """Iterate until the trainer is done, then write and return the run."""
        settled = self.settled
        self.report(
            Started(
                settled.settings,
                settled.spec,
                settled.probe["episodes"],
                settled.probe["steps"],
                settled.recipe,
                self.steps,
                settled.evidence,
            )
        )
        for sentence in settled.remarks:
            self._notice(sentence)
        self._started = time.perf_counter() - self.record.seconds
        self._cpu_started = cpu_seconds() - self.record.cpu_seconds
        last_checkpoint = time.perf_counter()
        if self.should_stop():  # before the first iteration, which may take long
            raise Stopped(None if self.folder is None else self.folder.path)
        while not self.trainer.done:
            self._iterate()
            if self.trainer.contradicted:
                self._react_to_contradiction()
            if self.should_stop():
                self._save()
                raise Stopped(None if self.folder is None else self.folder.path)
            if time.perf_counter() - last_checkpoint >= checkpoint_seconds:
                self._save()
                last_checkpoint = time.perf_counter()
        self._save()
        return self._end()

    def _react_to_contradiction(self) -> None:
        """Begin again as in a stochastic environment, or at least notify the user."""
        name = self.settled.spec.name
        if not self.settled.may_begin_again(self.steps):
            advice = (
                f"{name} is taken for deterministic, but an episode played again returned "
                "something else: what is reported may be chance; give deterministic=False "
                "(--deterministic False, or in the spec of a compiled environment)"
            )
            if advice not in self.record.notices:
                self._notice(advice)
            return
        left = self.settled.settings.config.total_steps - self.steps
        settled = self.settled = self.settled.as_stochastic(self.trainer.steps)
        settled.environment.prepare()
        trainer = settled.fresh_trainer()
        trainer.take_over(self.trainer)
        self.trainer = trainer
        self.record.evaluations.clear()
        self.record.phases.clear()
        self._notice(
            f"{name} seemed deterministic, but an episode played again returned something else: "
            f"training begins again, as in a stochastic environment, with the {left:,} steps that "
            "are left"
        )
        self._behind = self.folder is not None
        self._save()

    def _iterate(self) -> None:
        before = self.trainer.steps
        watched = _Watched(self, self.steps)
        self.settled.environment.watch(watched)
        try:
            progress = self.trainer.iterate()
        except UserError as error:
            raise UserError(f"{error}{self._what_is_kept()}") from None
        self.settled.environment.watch(None)
        for sentence in self.trainer.take_notices():
            self._notice(sentence)
        seconds = self.seconds
        self.record.phases[progress.phase] += self.trainer.steps - before
        progress = replace(progress, steps=self.steps)
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

    def _what_is_kept(self) -> str:
        """The end of a sentence on a failure: how the run goes on, if it has a checkpoint."""
        if self.folder is None or not self.folder.checkpoints():
            return ""
        return f"; `{resuming(self.folder.path)}` goes on from the last checkpoint"

    @property
    def steps(self) -> int:
        """Environment steps so far, those of a training that was begun again included."""
        return self.settled.abandoned_steps + self.trainer.steps

    @property
    def seconds(self) -> float:
        """Seconds of training so far, those before an interruption included."""
        return time.perf_counter() - self._started

    def _notice(self, sentence: str) -> None:
        """Notify the user, and record the sentence in `metrics.json`."""
        self.record.notices.append(sentence)
        self.report(Noticed(sentence))

    def _save(self) -> None:
        self.record.seconds = self.seconds
        self.record.cpu_seconds = cpu_seconds() - self._cpu_started
        if self.folder is None:
            return
        try:
            self._make_folder_again()
            self._write_checkpoint(self.folder)
        except TakenOver:
            raise
        except (OSError, UserError) as error:
            if not self._failing:
                why = str(error)
                if isinstance(error, OSError):
                    why = f"cannot write a checkpoint to {self.folder.path}: "
                    why += error.strerror or str(error)
                self._notice(f"{why}; training goes on and tries again")
            self._failing = True
        else:
            self._failing = False

    def _make_folder_again(self) -> None:
        """Create the run's folder again if it has vanished."""
        if self.folder is None or self.folder.path.exists():
            return
        settled, path = self.settled, self.folder.path
        self.folder = RunFolder.create(path, settled.settings, settled.spec, settled.probe)
        self._notice(f"{path} had vanished; it was made again, and nothing is lost")

    def _write_checkpoint(self, folder: RunFolder) -> None:
        """Write the state and the evaluations.

        If the training has begun again, and the folder does not say so yet, it will.
        """
        snapshot, settled = self.trainer.snapshot(), self.settled
        content = {"trainer": snapshot.facts, "record": self.record.to_json()}
        if self._behind:
            described = (settled.settings, settled.spec, settled.probe)
            folder.begin_again(*described, content, snapshot.arrays)
            self._behind = False
            return
        folder.write_progress(self.record.evaluations)
        folder.write_checkpoint(content, snapshot.arrays)

    def _end(self) -> Run:
        settled, outcome = self.settled, self.trainer.outcome()
        close_all([settled.environment], settled.spec.name)
        abandoned = {"abandoned": settled.abandoned_steps} if settled.abandoned_steps else {}
        phases = {"probing": settled.probe["steps"], **abandoned, **self.record.phases}
        metrics = {
            "steps": sum(phases.values()),
            "steps_by_phase": phases,
            "probe": dict(settled.probe),
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(cpu_seconds() - self._cpu_started, 3),
            "policies": len(outcome.coverage_set),
            "tolerances": outcome.coverage_set.tolerance_vector.tolist(),
            "dominance": outcome.coverage_set.order.to_json(),
            **metrics_of(outcome.coverage_set, settled.spec, outcome.archive),
            **({"notices": self.record.notices} if self.record.notices else {}),
            **outcome.facts,
            "made_with": made_with(),
        }
        weights = dict(outcome.arrays)
        if self.folder is not None:
            try:
                if self._behind:
                    self._write_checkpoint(self.folder)
                self.folder.write_weights(weights)
                self.folder.write_coverage_set(outcome.coverage_set, settled.spec.objective_names)
                self.folder.write_metrics(metrics)
            except OSError as error:
                path = self.folder.path
                raise UserError(
                    f"cannot write the result to {path}: {error.strerror or error}; once that is "
                    f"corrected, `{resuming(path)}` continues from the last checkpoint"
                ) from None
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


class _Watched:
    """Reports steps during an iteration, unless the last report was a moment ago."""

    def __init__(self, loop: TrainingLoop, steps: int) -> None:
        self._loop, self._steps = loop, steps
        self._last = time.perf_counter()

    def __call__(self, num_steps: int) -> None:
        self._steps += num_steps
        now = time.perf_counter()
        if now - self._last >= COLLECTING_SECONDS:
            self._last = now
            total = self._loop.settled.settings.config.total_steps
            self._loop.report(Collecting(self._steps, total, self._loop.seconds))
