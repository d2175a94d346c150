"""A run's folder: which file holds what."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pcn.algorithms.trainer import Snapshot
from pcn.coverage import CoverageSet
from pcn.errors import UserError
from pcn.runs.settings import Settings
from pcn.serialisation.files import (
    read_arrays,
    read_csv,
    read_json,
    write_arrays,
    write_csv,
    write_json,
)


@dataclass(frozen=True)
class RunFolder:
    """Paths and formats; every file is replaced in one step.

    `metrics.json` is written last: a folder that has it is finished.
    """

    path: Path

    @classmethod
    def create(cls, path: Path, settings: Settings) -> "RunFolder":
        """A new folder with its `config.json`; an existing one is left alone."""
        cls.refuse_existing(path)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            temporary.mkdir(parents=True)
            write_json(temporary / "config.json", settings.to_json())
            temporary.rename(path)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise UserError(f"cannot create {path}: {error.strerror or error}") from None
        return cls(path)

    @staticmethod
    def refuse_existing(path: Path) -> None:
        """An error if there is anything at `path`."""
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

    def settings(self) -> Settings:
        """What the run was asked to do."""
        return Settings.from_json(read_json(self.path / "config.json"))

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return (self.path / "metrics.json").exists()

    def write_progress(self, header: list[str], rows: list[list[Any]]) -> None:
        """The table of evaluations."""
        write_csv(self.path / "progress.csv", header, rows)

    def read_progress(self) -> tuple[list[str], list[list[str]]]:
        """The table of evaluations."""
        return read_csv(self.path / "progress.csv")

    def write_checkpoint(self, snapshot: Snapshot, **record: Any) -> None:
        """The state to resume from, and the record kept so far."""
        write_arrays(
            self.path / "checkpoint.npz", snapshot.arrays, trainer=snapshot.facts, record=record
        )

    def read_checkpoint(self) -> tuple[Snapshot, dict[str, Any]] | None:
        """The last state saved, if any."""
        path = self.path / "checkpoint.npz"
        if not path.exists():
            return None
        arrays, facts = read_arrays(path)
        if not {"trainer", "record"} <= facts.keys():
            raise UserError(f"{path} is damaged: it is no checkpoint")
        return Snapshot(arrays, facts["trainer"]), facts["record"]

    def write_weights(self, arrays: dict[str, np.ndarray]) -> None:
        """What the policies need to act."""
        write_arrays(self.path / "weights.npz", arrays)

    def read_weights(self) -> dict[str, np.ndarray]:
        """What the policies need to act."""
        return read_arrays(self.path / "weights.npz")[0]

    def write_coverage_set(self, coverage_set: CoverageSet, names: tuple[str, ...]) -> None:
        """One row per policy, in `front.csv`."""
        header = [
            "id",
            *(f"requested_{name}" for name in names),
            "requested_horizon",
            *(f"executed_{name}" for name in names),
            *(f"deviation_{name}" for name in names),
            "non_dominated",
        ]
        rows = zip(
            coverage_set.requested.tolist(),
            coverage_set.horizons.tolist(),
            coverage_set.executed.tolist(),
            coverage_set.deviation.tolist(),
            coverage_set.front_mask.tolist(),
            strict=True,
        )
        table = [
            [number, *requested, horizon, *executed, *deviation, int(on_front)]
            for number, (requested, horizon, executed, deviation, on_front) in enumerate(rows)
        ]
        write_csv(self.path / "front.csv", header, table)

    def read_coverage_set(
        self, *, num_policies: int, num_objectives: int, tolerance: float
    ) -> CoverageSet:
        """The policies of `front.csv`."""
        path = self.path / "front.csv"
        _, rows = read_csv(path)
        try:
            table = np.array(rows, dtype=np.float64)
            if table.ndim != 2 or table.shape[1] != 3 * num_objectives + 3:
                raise ValueError(f"expected rows of {3 * num_objectives + 3} numbers")
            if not np.isfinite(table).all():
                raise ValueError("a number is missing")
            if table[:, 0].tolist() != list(range(num_policies)):
                raise ValueError(f"expected the policies 0 to {num_policies - 1} in order")
        except ValueError as error:
            raise UserError(f"{path} is damaged: {error}") from None
        n = num_objectives
        return CoverageSet(
            requested=table[:, 1 : 1 + n],
            horizons=table[:, 1 + n],
            executed=table[:, 2 + n : 2 + 2 * n],
            deviation=table[:, 2 + 2 * n : 2 + 3 * n],
            tolerance=tolerance,
        )

    def write_metrics(self, metrics: dict[str, Any]) -> None:
        """The figures of the finished run; the last file to be written."""
        write_json(self.path / "metrics.json", metrics)

    def read_metrics(self) -> dict[str, Any]:
        """The figures of the finished run."""
        path = self.path / "metrics.json"
        metrics = read_json(path)
        for name in ("archive", "executed", "fidelity"):
            if not isinstance(metrics.get(name), dict):
                raise UserError(f"{path} is damaged: {name} is missing")
        if not isinstance(metrics.get("policies"), int):
            raise UserError(f"{path} is damaged: policies is missing")
        return metrics
