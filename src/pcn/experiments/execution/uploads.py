"""Uploads of runs, for machines that share no path.

A snapshot is a zip file with a run's folder, its log and its status. Its name ends in the number of
the attempt and the number of the snapshot within it, and it gets this name when it is complete. So
a worker that is disconnected but alive never replaces the uploads of its successor.
"""

import re
import shutil
import uuid
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pcn.errors import UserError
from pcn.experiments.status import log_file, status_file

SNAPSHOT = re.compile(r"(?P<run>.+)\.(?P<attempt>\d{4,})\.(?P<number>\d{6,})\.zip")


class Snapshot(NamedTuple):
    """An uploaded state of a run; later snapshots compare as larger."""

    attempt: int
    number: int

    def place(self, run: str) -> str:
        """Its path below the URL.

        >>> Snapshot(2, 5).place("runs/minecart/pcn/seed-0")
        'runs/minecart/pcn/seed-0.0002.000005.zip'
        """
        return f"{run}.{self.attempt:04}.{self.number:06}.zip"


class Uploads:
    """A folder behind a URL of fsspec; runs are identified by their names.

    Every method raises a `UserError` if the URL cannot be used.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            import fsspec
        except ImportError:
            raise UserError("fsspec is not installed: pip install 'pcn[upload]'") from None
        try:
            self._files: Any
            self._files, root = fsspec.core.url_to_fs(self.url, use_listings_cache=False)
        except Exception as error:  # every kind of URL has its own package, with its own errors
            raise self._refusal("use", error) from None
        self._root = root.rstrip("/")

    def check(self) -> None:
        """Write a file, read it again and remove it."""
        self.remove(self.leave_probe(uuid.uuid4().hex))

    def leave_probe(self, content: str) -> str:
        """Write a file that `sees_probe` finds; returns its name."""
        name = f".probe-{content}"
        try:
            self._files.makedirs(self._root, exist_ok=True)
            self._files.pipe_file(f"{self._root}/{name}", content.encode())
        except Exception as error:
            raise self._refusal("write to", error) from None
        if not self.sees_probe(content):
            raise UserError(f"cannot read from {self.url} what was written to it")
        return name

    def sees_probe(self, content: str) -> bool:
        """Whether the file that `leave_probe` wrote, here or on another machine, exists."""
        try:
            found: bytes = self._files.cat_file(f"{self._root}/.probe-{content}")
        except FileNotFoundError:
            return False
        except Exception as error:
            raise self._refusal("read from", error) from None
        return found == content.encode()

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with suppress(FileNotFoundError):
            try:
                self._files.rm_file(f"{self._root}/{name}")
            except FileNotFoundError:
                raise
            except Exception as error:
                raise self._refusal("remove files from", error) from None

    def newest(self, below: str = "") -> dict[str, Snapshot]:
        """The newest snapshot of each run below a folder."""
        found: dict[str, Snapshot] = {}
        for run, snapshot in self._snapshots(below):
            found[run] = max(found.get(run, snapshot), snapshot)
        return found

    def upload(self, run: str, folder: Path, snapshot: Snapshot) -> None:
        """Upload a run of an experiment's folder, and remove its earlier uploads."""
        target = f"{self._root}/{snapshot.place(run)}"
        part = f"{target}.{uuid.uuid4().hex}.part"
        with TemporaryDirectory(prefix="pcn-") as temporary:
            packed = Path(temporary) / "run.zip"
            _pack(folder, run, packed)
            try:
                self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
                self._files.put_file(str(packed), part)
                self._files.mv(part, target)
            except Exception as error:
                raise self._refusal("write to", error) from None
        for other, older in self._snapshots(run.rpartition("/")[0]):
            if other == run and older < snapshot:
                self.remove(older.place(run))

    def download(self, run: str, folder: Path, snapshot: Snapshot) -> None:
        """Replace a run in an experiment's folder by a snapshot."""
        with TemporaryDirectory(prefix="pcn-") as temporary:
            packed = Path(temporary) / "run.zip"
            try:
                self._files.get_file(f"{self._root}/{snapshot.place(run)}", str(packed))
            except Exception as error:
                raise self._refusal("read from", error) from None
            _unpack(packed, folder, run)

    def fetch(self, runs: Iterable[str], folder: Path, finished: Iterable[str]) -> None:
        """Download the newest snapshot of each run that is not finished in a folder."""
        left = set(runs) - set(finished)
        for run, snapshot in self.newest().items():
            if run in left:
                self.download(run, folder, snapshot)

    def _snapshots(self, below: str) -> list[tuple[str, Snapshot]]:
        root = self._files._strip_protocol(self._root)
        try:
            paths = self._files.find(f"{self._root}/{below}".rstrip("/"))
        except FileNotFoundError:
            return []
        except Exception as error:
            raise self._refusal("read from", error) from None
        names = (path.removeprefix(root).lstrip("/") for path in paths)
        matches = filter(None, map(SNAPSHOT.fullmatch, names))
        return [
            (match["run"], Snapshot(int(match["attempt"]), int(match["number"])))
            for match in matches
        ]

    def _refusal(self, what: str, error: Exception) -> UserError:
        lines = str(error).strip().splitlines()
        return UserError(f"cannot {what} {self.url}: {lines[0] if lines else type(error).__name__}")


@dataclass
class TravellingRun:
    """A run in a local folder that is uploaded after each checkpoint."""

    uploads: Uploads
    name: str
    folder: Path
    """An experiment's folder that holds only this run."""
    snapshot: Snapshot = field(default=Snapshot(1, 0))
    _saved: int = 0
    """When the last uploaded checkpoint was written."""

    def fetch(self) -> None:
        """Download the upload of an earlier attempt; this attempt gets the next number."""
        newest = self.uploads.newest(self.name.rpartition("/")[0]).get(self.name)
        if newest is not None:
            self.uploads.download(self.name, self.folder, newest)
            self.snapshot = Snapshot(newest.attempt + 1, 0)
        self._saved = self._checkpoint_time()

    def upload_checkpoint(self) -> None:
        """Upload the run if it has a new checkpoint; a failure is tried again later."""
        time = self._checkpoint_time()
        if time > self._saved:
            try:
                self.upload()
            except UserError as error:
                print(f"{error}; it is tried again with the next checkpoint")
            self._saved = time

    def upload(self) -> None:
        """Upload the run in its present state."""
        self.snapshot = Snapshot(self.snapshot.attempt, self.snapshot.number + 1)
        self.uploads.upload(self.name, self.folder, self.snapshot)

    def _checkpoint_time(self) -> int:
        path = self.folder / self.name / "checkpoint.npz"
        return path.stat().st_mtime_ns if path.exists() else 0


def _pack(folder: Path, run: str, target: Path) -> None:
    """A zip file with a run's folder, its log and its status."""
    path = folder / run
    files = [file for file in sorted(path.glob("*")) if file.is_file() and file.name[0] != "."]
    beside = [file for file in (status_file(path), log_file(path)) if file.exists()]
    with zipfile.ZipFile(target, "w") as packed:  # most of it is compressed already
        for file in [*files, *beside]:
            packed.write(file, file.relative_to(path.parent).as_posix())


def _unpack(source: Path, folder: Path, run: str) -> None:
    """Unpack a file of `_pack` into a folder; old files are replaced when all is unpacked."""
    path = folder / run
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    expected = re.compile(rf"{re.escape(path.name)}(/[^/]+|\.status\.json|\.log)")
    try:
        with zipfile.ZipFile(source) as packed:
            names = packed.namelist()
            if not all(map(expected.fullmatch, names)):
                raise UserError(f"the uploaded {run} holds files that are not of this run")
            packed.extractall(temporary)
        if (temporary / path.name).exists():
            shutil.rmtree(path, ignore_errors=True)
            (temporary / path.name).rename(path)
        for file in (status_file(path), log_file(path)):
            if (temporary / file.name).exists():
                (temporary / file.name).replace(file)
    except zipfile.BadZipFile as error:
        raise UserError(f"the uploaded {run} is damaged: {error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
