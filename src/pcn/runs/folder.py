"""A run's folder: which file holds what."""

import errno
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pcn.coverage import CoverageSet
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError, resuming
from pcn.pareto import PARETO, AbstractOrder, Tolerances, order_from_json
from pcn.runs.checkpoint import (
    CHECKPOINT,
    CHECKPOINT_BEFORE,
    CHECKPOINT_NEXT,
    keep_as,
    read_checkpoint,
    write_checkpoint,
)
from pcn.runs.damage import check_metrics
from pcn.runs.front_table import coverage_set_of, table_of
from pcn.runs.progress import COLUMNS, Evaluation, evaluations_of
from pcn.runs.settings import Settings
from pcn.runs.writer import WRITER_PREFIX, Writer
from pcn.serialisation.files import (
    fingerprint_of_arrays,
    fingerprint_of_file,
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
FINGERPRINTED = ("config.json", "spec.json", "progress.csv", "front.csv", "weights.npz")
"""Files whose fingerprints `metrics.json` records; a finished run does not need its checkpoint."""


@dataclass(frozen=True)
class RunFolder:
    """Paths and formats of a run's files; each file is replaced in one step.

    `metrics.json` is written last: a folder that has it is finished. Only the folder's writer may
    write: `create` and `claim` make this process the writer, and `release` ends that.
    """

    path: Path
    writer: Writer | None = None

    def _to_read(self, name: str) -> Path:
        """The path of a file of this run; a `UserError` for a link that leads out of the folder."""
        path = self.path / name
        if path.is_symlink() and not path.resolve().is_relative_to(self.path.resolve()):
            raise UserError(f"{path} is a link that leads out of the run, to {path.resolve()}")
        return path

    @classmethod
    def create(
        cls, path: Path, settings: Settings, spec: EnvironmentSpec, probe: Mapping[str, int]
    ) -> "RunFolder":
        """Create a new folder that records what is going to be trained; an existing folder is
        refused.

        This process becomes its writer.
        """
        cls.refuse_existing(path)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            temporary.mkdir(parents=True)
            write_json(temporary / "config.json", settings.to_json())
            write_json(temporary / "spec.json", _described(settings, spec, probe))
            writer = Writer.of_new_folder(temporary, path)
            temporary.rename(path)
        except (OSError, ValueError) as error:  # a name may hold a null byte
            shutil.rmtree(temporary, ignore_errors=True)
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"cannot create {path}: {reason}") from None
        return cls(path, writer)

    def begin_again(
        self,
        settings: Settings,
        spec: EnvironmentSpec,
        probe: Mapping[str, int],
        content: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
    ) -> None:
        """Describe a training that begins again, and put its first checkpoint in place of all
        others; `content` and `arrays` are those of `write_checkpoint`.

        At every moment the folder can be resumed, as what it was or as what it is now.
        """
        write_checkpoint(self._to_write(CHECKPOINT_NEXT), content, arrays, settings.to_json())
        write_json(self._to_write("spec.json"), _described(settings, spec, probe))
        self.complete_beginning_again(settings)

    @property
    def begins_again(self) -> bool:
        """Whether the process that let the training begin again was killed while it wrote that."""
        described, path = self.read_spec(), self.path / CHECKPOINT_NEXT
        return path.exists() and described is not None and "abandoned" in described[1]

    def complete_beginning_again(self, settings: Settings) -> None:
        """What remains to be written once the new spec is there."""
        write_json(self._to_write("config.json"), settings.to_json())
        self._to_write(CHECKPOINT_NEXT).replace(self.path / CHECKPOINT)
        for name in (CHECKPOINT_BEFORE, "progress.csv"):
            self._to_write(name).unlink(missing_ok=True)

    def claim(self, *, take_over: bool = False) -> "RunFolder":
        """Make this process the writer of the folder; a `UserError` names another writer.

        With `take_over` the other writer is replaced, alive or not.
        """
        return replace(self, writer=Writer.claim(self.path, take_over=take_over))

    def release(self) -> None:
        """Let other processes write."""
        if self.writer is not None:
            self.writer.release()

    def remove_unbegun(self) -> None:
        """Remove the folder, if it holds nothing but the description of a training.

        The same name can be given again then.
        """
        described = {"config.json", "spec.json"}
        kept = {one.name for one in self.path.iterdir()} - described
        if any(not name.startswith(WRITER_PREFIX) for name in kept):
            return
        for name in described:
            self._to_write(name).unlink(missing_ok=True)
        self.release()
        self.path.rmdir()

    def _to_write(self, name: str) -> Path:
        """The path of a file, after a check that this process may still write."""
        assert self.writer is not None, "who writes has claimed the folder"
        if not self.path.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))
        self.writer.check()
        return self.path / name

    @staticmethod
    def refuse_existing(path: Path) -> None:
        """Raise a `UserError` if there is anything at `path`."""
        if not path.exists():
            return
        unfinished = (path / "config.json").exists() and not (path / "metrics.json").exists()
        hint = f", or continue it with `{resuming(path)}`" if unfinished else ""
        raise UserError(f"{path} exists already; choose another --out{hint}")

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """Open an existing folder; a `UserError` says why it is not a run."""
        if not path.is_dir():
            raise UserError(f"{path} is not a folder; `pcn train` creates runs")
        if not (path / "config.json").exists():
            raise UserError(f"{path} is not a run: it has no config.json{_runs_hint(path)}")
        return cls(path)

    def read_settings(self) -> Settings:
        """The settings of the run: environment, algorithm, hyperparameters, seed."""
        content = read_json(self._to_read("config.json"))
        try:
            return Settings.from_json(content)
        except UserError as error:  # several runs may be read at once
            raise UserError(f"{self.path}: {error}") from None

    def begun_with(self) -> str:
        """The version of pcn that created the folder; empty if it is not recorded."""
        return str(read_json(self._to_read("config.json")).get("pcn", ""))

    def read_spec(self) -> tuple[EnvironmentSpec, dict[str, int]] | None:
        """The spec of the environment, and the episodes and steps of probing; None in format 1."""
        path = self._to_read("spec.json")
        if not path.exists():
            return None
        content = read_json(path)
        try:
            counts = content["probe"]
            names = ("episodes", "steps", *({"compared", "abandoned"} & counts.keys()))
            probe = {name: int(counts[name]) for name in names}
            return EnvironmentSpec.from_json(content), probe
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path} is damaged: {error!r}") from None

    @property
    def finished(self) -> bool:
        """Whether the run is finished."""
        return (self.path / "metrics.json").exists()

    def write_progress(self, evaluations: list[Evaluation]) -> None:
        """Write the table of evaluations."""
        rows = [evaluation.row() for evaluation in evaluations]
        write_csv(self._to_write("progress.csv"), COLUMNS, rows)

    def read_progress(self) -> list[Evaluation]:
        """Read the table of evaluations."""
        path = self._to_read("progress.csv")
        return evaluations_of(*read_csv(path), path)

    def write_checkpoint(
        self, content: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
    ) -> None:
        """Write a state to resume from: arrays, facts of the `trainer`, and the `record`.

        The checkpoint also records the settings of the run. The checkpoint before it is kept beside
        it.
        """
        path, settings = self._to_write(CHECKPOINT), read_json(self._to_read("config.json"))
        keep_as(path, CHECKPOINT_BEFORE)
        write_checkpoint(path, content, arrays, settings)

    def checkpoints(self) -> list[Path]:
        """The existing checkpoints, the last one first."""
        names = (CHECKPOINT, CHECKPOINT_BEFORE)
        return [path for path in map(self._to_read, names) if path.exists()]

    def read_checkpoint(self, path: Path) -> tuple[dict[str, np.ndarray], Any, Any]:
        """The arrays and facts of a state, and the record; a checkpoint of another run is
        refused."""
        return read_checkpoint(path, read_json(self._to_read("config.json")))

    def write_weights(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Write the arrays that the policies need to act."""
        write_arrays(self._to_write("weights.npz"), arrays)

    def read_weights(self) -> dict[str, np.ndarray]:
        """Read the arrays that the policies need to act."""
        return read_arrays(self._to_read("weights.npz"))[0]

    def write_coverage_set(self, coverage_set: CoverageSet, names: tuple[str, ...]) -> None:
        """Write `front.csv`, one row per policy; `names` are the names of the objectives."""
        write_csv(self._to_write("front.csv"), *table_of(coverage_set, names))

    def read_coverage_set(
        self, *, num_policies: int, tolerances: Tolerances, order: AbstractOrder = PARETO
    ) -> CoverageSet:
        """The policies of `front.csv`."""
        path = self._to_read("front.csv")
        try:
            return coverage_set_of(*read_csv(path), num_policies, tolerances, order)
        except UserError:  # it names the file
            raise
        except ValueError as error:
            raise UserError(f"{path} is damaged: {error}") from None

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Write the metrics of the finished run, as its last file.

        They include the fingerprints of the other files.
        """
        path = self._to_write("metrics.json")
        files = {
            name: self._fingerprint(name) for name in FINGERPRINTED if (self.path / name).exists()
        }
        write_json(path, {**metrics, "files": files})
        with suppress(OSError):  # the run is complete, with or without it
            (self.path / CHECKPOINT_BEFORE).unlink()

    def order_in(self, metrics: Mapping[str, Any]) -> AbstractOrder:
        """The order that the metrics name; older runs have Pareto's only."""
        if "dominance" not in metrics:
            return PARETO
        try:
            return order_from_json(metrics["dominance"])
        except (AttributeError, ValueError) as error:
            raise UserError(f"{self.path / 'metrics.json'} is damaged: {error}") from None

    def read_metrics(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The metrics of the finished run, and the fingerprints of its other files."""
        path = self._to_read("metrics.json")
        metrics = read_json(path)
        check_metrics(metrics, path)
        return metrics, metrics.pop("files", {})

    def check_files(self, fingerprints: Mapping[str, str], *, weights: bool) -> None:
        """Raise a `UserError` if a file is not the one that the run was finished with.

        Without `weights` these are left alone.
        """
        path = self.path / "metrics.json"
        for name, fingerprint in fingerprints.items():
            if name == "weights.npz" and not weights:
                continue
            if name in FINGERPRINTED and self._fingerprint(name) != fingerprint:
                raise UserError(
                    f"{self.path / name} does not belong to {path}: it was changed, or is of "
                    "another run"
                )

    def _fingerprint(self, name: str) -> str:
        """A hash of a file's content, without the parts that differ when a run is resumed."""
        if name == "progress.csv":
            rows = [replace(evaluation, seconds=0.0).row() for evaluation in self.read_progress()]
            return fingerprint_of_arrays({"rows": np.array(rows, dtype=np.float64)}, {})
        try:
            return fingerprint_of_file(self._to_read(name))
        except OSError as error:
            raise UserError(f"cannot read {self.path / name}: {error.strerror}") from None


def _described(
    settings: Settings, spec: EnvironmentSpec, probe: Mapping[str, int]
) -> dict[str, Any]:
    """The content of `spec.json`."""
    return {"format": settings.format, **spec.to_json(), "probe": dict(probe)}


def _runs_hint(path: Path) -> str:
    """The end of a sentence on a folder that is not a run: the runs in it, or how to make one."""
    inside = sorted(config.parent for config in path.glob("*/config.json"))
    if not inside:
        return "; `pcn train` creates runs"
    named = ", ".join(map(str, inside[:3])) + (", …" if len(inside) > 3 else "")
    return f"; it holds runs, so name one of them: {named}"
