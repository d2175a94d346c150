"""Only one process at a time may write into a run's folder, and never an older attempt.

A writer is a folder `.writer-N` inside the run's folder, where N is the number of the attempt. It
is moved to its place as a whole, and cannot replace an existing one. So of two processes that claim
the same attempt, one gets it, on every file system.
"""

import os
import shutil
import socket
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pcn.errors import UserError, resuming
from pcn.runs.processes import birth, is_alive
from pcn.serialisation.files import read_json, write_json

SILENT_SECONDS = 600.0
"""Seconds without a write after which a writer on another machine counts as dead."""

WRITER_PREFIX = ".writer-"
"""What the names of writers begin with, in the run's folder."""

_OWNER = "owner.json"


class TakenOver(UserError):
    """Another attempt writes the run, so this one must stop."""


@dataclass(frozen=True)
class Owner:
    """The process that writes, identified by its token."""

    attempt: int
    host: str
    pid: int
    born: str
    """The start time of the process, as the system reports it; empty if it does not."""
    since: str
    token: str

    @classmethod
    def of_this_process(cls, attempt: int) -> "Owner":
        """This process, which is about to write for the first time."""
        return cls(
            attempt=attempt,
            host=socket.gethostname(),
            pid=os.getpid(),
            born=birth(os.getpid()),
            since=time.strftime("%Y-%m-%d %H:%M:%S"),
            token=uuid.uuid4().hex,
        )

    @property
    def description(self) -> str:
        """The owner in words."""
        return f"process {self.pid} on {self.host} (attempt {self.attempt}, since {self.since})"


@dataclass(frozen=True)
class Writer:
    """The right to write into a run's folder; `check` verifies that it still holds."""

    path: Path
    """The run's folder."""
    owner: Owner

    @classmethod
    def claim(cls, path: Path, *, take_over: bool = False) -> "Writer":
        """Become the writer of a folder; a `UserError` names the present writer.

        A writer that is known to be dead is replaced. With `take_over` any writer is: it notices
        before it writes again.
        """
        while True:
            attempts = _attempts(path)
            last = max(attempts, default=0)
            if last and not take_over:
                _refuse_if_alive(path, attempts[last])
            owner = Owner.of_this_process(last + 1)
            if _place(path, owner):
                return cls(path, owner)

    @classmethod
    def of_new_folder(cls, temporary: Path, path: Path) -> "Writer":
        """The first writer of a folder that is made in a temporary place and then moved."""
        owner = Owner.of_this_process(1)
        _write_owner(temporary / f"{WRITER_PREFIX}{owner.attempt}", owner)
        return cls(path, owner)

    def check(self) -> None:
        """Raise `TakenOver` if another attempt has taken over; otherwise record a sign of life."""
        attempts = _attempts(self.path)
        mine = attempts.get(self.owner.attempt)
        last = attempts.get(max(attempts, default=0))
        holder = None if last is None else _owner_in(last)
        if mine is None or holder is None or holder.token != self.owner.token:
            by = "" if holder is None else f" by {holder.description}"
            raise TakenOver(
                f"{self.path} was taken over{by}: attempt {self.owner.attempt} writes nothing more"
            )
        os.utime(mine / _OWNER)

    def release(self) -> None:
        """Let other processes write; nothing happens if another attempt has taken over."""
        attempts = _attempts(self.path)
        mine = attempts.pop(self.owner.attempt, None)
        if mine is None or any(attempt > self.owner.attempt for attempt in attempts):
            return
        for older in attempts.values():
            shutil.rmtree(older, ignore_errors=True)
        shutil.rmtree(mine, ignore_errors=True)


def _attempts(path: Path) -> dict[int, Path]:
    """The writers of a folder so far, by the numbers of their attempts."""
    return dict(_numbered(path))


def _numbered(path: Path) -> Iterator[tuple[int, Path]]:
    for place in path.glob(f"{WRITER_PREFIX}*"):
        number = place.name.removeprefix(WRITER_PREFIX)
        if number.isdecimal():
            yield int(number), place


def _place(path: Path, owner: Owner) -> bool:
    """Whether the owner got its attempt; False if another process was faster."""
    temporary = path / f".claim-{owner.token}"
    try:
        _write_owner(temporary, owner)
        temporary.rename(path / f"{WRITER_PREFIX}{owner.attempt}")
    except FileExistsError:
        return False
    except OSError as error:
        # Systems use several error numbers for an existing target.
        if (path / f"{WRITER_PREFIX}{owner.attempt}").exists():
            return False
        raise UserError(f"cannot write to {path}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return True


def _write_owner(place: Path, owner: Owner) -> None:
    place.mkdir()
    write_json(place / _OWNER, asdict(owner))


def _owner_in(place: Path) -> Owner | None:
    """The owner in a writer's folder; None if it was just removed, or is damaged."""
    try:
        content: dict[str, Any] = read_json(place / _OWNER)
        owner = Owner(**content)
    except (UserError, TypeError):
        return None
    kinds = Owner.__annotations__
    fits = all(type(value) is kinds[name] for name, value in content.items())
    return owner if fits and 0 < owner.pid < 1 << 31 else None


def _refuse_if_alive(path: Path, place: Path) -> None:
    owner = _owner_in(place)
    if owner is None or not _alive(path, place, owner):
        return
    hint = "" if owner.host == socket.gethostname() else _hint(path)
    raise UserError(f"{path} is being written by {owner.description}{hint}")


def _hint(path: Path) -> str:
    return (
        f"; if that machine is gone, wait {SILENT_SECONDS / 60:.0f} minutes "
        f"or give `{resuming(path)} --take-over`"
    )


def _alive(path: Path, place: Path, owner: Owner) -> bool:
    """Whether an owner may still write."""
    if owner.host != socket.gethostname():
        return _silence(path, place) < SILENT_SECONDS
    return is_alive(owner.pid, owner.born)


def _silence(path: Path, place: Path) -> float:
    """Seconds since a writer's last sign of life, by the clock of the file system."""
    probe = path / f".clock-{uuid.uuid4().hex}"
    try:
        probe.touch()
        return probe.stat().st_mtime - (place / _OWNER).stat().st_mtime
    except OSError:
        return 0.0
    finally:
        probe.unlink(missing_ok=True)
