"""A run's folder: which file holds what."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pcn.coverage import CoverageSet
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.pareto import PARETO, AbstractOrder, Tolerances, order_from_json
from pcn.runs.front_table import coverage_set_of, table_of
from pcn.runs.progress import COLUMNS, Evaluation, evaluations_of
from pcn.runs.settings import Settings
from pcn.runs.writer import Writer
from pcn.serialisation.files import (
    read_arrays,
    read_csv,
    read_json,
    write_arrays,
    write_csv,
    write_json,
)

FILES = (
    "config.json",
    "spec.json",
    "progress.csv",
    "front.csv",
    "metrics.json",
    "weights.npz",
    "checkpoint.npz",
)
"""The files of a finished run."""


@dataclass(frozen=True)
class RunFolder:
    """Paths and formats of a run's files; each file is replaced in one step.

    `metrics.json` is written last: a folder that has it is finished. Who writes has to be its
    writer: `create` and `claim` make this process the writer, `release` ends it.
    """

    path: Path
    writer: Writer | None = None

    @classmethod
    def create(
        cls, path: Path, settings: Settings, spec: EnvironmentSpec, probe: Mapping[str, int]
    ) -> "RunFolder":
        """A new folder that says what is going to be trained; an existing one is left alone.

        This process is its writer.
        """
        cls.refuse_existing(path)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            temporary.mkdir(parents=True)
            write_json(temporary / "config.json", settings.to_json())
            write_json(
                temporary / "spec.json",
                {"format": settings.format, **spec.to_json(), "probe": dict(probe)},
            )
            writer = Writer.of_new_folder(temporary, path)
            temporary.rename(path)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise UserError(f"cannot create {path}: {error.strerror or error}") from None
        return cls(path, writer)

    def claim(self, *, take_over: bool = False) -> "RunFolder":
        """The folder with this process as its writer; a `UserError` names another one.

        With `take_over` the other one is succeeded, alive or not.
        """
        return replace(self, writer=Writer.claim(self.path, take_over=take_over))

    def release(self) -> None:
        """Let others write."""
        if self.writer is not None:
            self.writer.release()

    def _to_write(self, name: str) -> Path:
        """The path of a file that this process may write, now."""
        assert self.writer is not None, "who writes has claimed the folder"
        self.writer.check()
        return self.path / name

    @staticmethod
    def refuse_existing(path: Path) -> None:
        """Raise a `UserError` if there is anything at `path`."""
        if not path.exists():
            return
        unfinished = (path / "config.json").exists() and not (path / "metrics.json").exists()
        hint = f", or continue it with `pcn resume {path}`" if unfinished else ""
        raise UserError(f"{path} exists already; choose another --out{hint}")

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """An existing folder."""
        if not path.is_dir():
            raise UserError(f"{path} is not a folder; `pcn train` creates runs")
        if not (path / "config.json").exists():
            raise UserError(f"{path} is not a run: it has no config.json")
        return cls(path)

    def read_settings(self) -> Settings:
        """What the run does: environment, algorithm, hyperparameters, seed."""
        return Settings.from_json(read_json(self.path / "config.json"))

    def read_spec(self) -> tuple[EnvironmentSpec, dict[str, int]] | None:
        """What the run knows of its environment and what probing cost; None in format 1."""
        path = self.path / "spec.json"
        if not path.exists():
            return None
        content = read_json(path)
        try:
            probe = {name: int(content["probe"][name]) for name in ("episodes", "steps")}
            return EnvironmentSpec.from_json(content), probe
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path} is damaged: {error!r}") from None

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return (self.path / "metrics.json").exists()

    def write_progress(self, evaluations: list[Evaluation]) -> None:
        """The table of evaluations."""
        rows = [evaluation.row() for evaluation in evaluations]
        write_csv(self._to_write("progress.csv"), COLUMNS, rows)

    def read_progress(self) -> list[Evaluation]:
        """The table of evaluations."""
        path = self.path / "progress.csv"
        return evaluations_of(*read_csv(path), path)

    def write_checkpoint(
        self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any], record: Mapping[str, Any]
    ) -> None:
        """The trainer's state to resume from, and the record kept so far."""
        write_arrays(self._to_write("checkpoint.npz"), arrays, trainer=facts, record=record)

    def read_checkpoint(self) -> tuple[dict[str, np.ndarray], Any, Any] | None:
        """The arrays and facts of the last state saved, and the record; None if there is none."""
        path = self.path / "checkpoint.npz"
        if not path.exists():
            return None
        arrays, facts = read_arrays(path)
        if not {"trainer", "record"} <= facts.keys():
            raise UserError(f"{path} is damaged: it is no checkpoint")
        return arrays, facts["trainer"], facts["record"]

    def write_weights(self, arrays: Mapping[str, np.ndarray]) -> None:
        """What the policies need to act."""
        write_arrays(self._to_write("weights.npz"), arrays)

    def read_weights(self) -> dict[str, np.ndarray]:
        """What the policies need to act."""
        return read_arrays(self.path / "weights.npz")[0]

    def write_coverage_set(self, coverage_set: CoverageSet, names: tuple[str, ...]) -> None:
        """One row per policy, in `front.csv`; `names` are the objectives'."""
        write_csv(self._to_write("front.csv"), *table_of(coverage_set, names))

    def read_coverage_set(
        self, *, num_policies: int, tolerances: Tolerances, order: AbstractOrder = PARETO
    ) -> CoverageSet:
        """The policies of `front.csv`."""
        path = self.path / "front.csv"
        try:
            return coverage_set_of(*read_csv(path), num_policies, tolerances, order)
        except ValueError as error:
            raise UserError(f"{path} is damaged: {error}") from None

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """The metrics of the finished run; the last file to be written."""
        write_json(self._to_write("metrics.json"), metrics)

    def order_in(self, metrics: Mapping[str, Any]) -> AbstractOrder:
        """The order that the metrics of the run name; older runs know Pareto's only."""
        if "dominance" not in metrics:
            return PARETO
        try:
            return order_from_json(metrics["dominance"])
        except (AttributeError, ValueError) as error:
            raise UserError(f"{self.path / 'metrics.json'} is damaged: {error}") from None

    def read_metrics(self) -> dict[str, Any]:
        """The metrics of the finished run."""
        path = self.path / "metrics.json"
        metrics = read_json(path)
        for name in ("archive", "executed", "fidelity"):
            if not isinstance(metrics.get(name), dict):
                raise UserError(f"{path} is damaged: {name} is missing")
        if not isinstance(metrics.get("policies"), int):
            raise UserError(f"{path} is damaged: policies is missing")
        return metrics
