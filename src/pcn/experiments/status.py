"""The status of a run of an experiment: `seed-0.status.json` beside the run's folder `seed-0`."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_type_hints

from pcn.checks import fits
from pcn.errors import UserError
from pcn.runs.folder import RunFolder
from pcn.serialisation.files import read_json, write_json

State = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, kw_only=True)
class Status:
    """The status of a run, besides what its own folder records."""

    state: State = "waiting"
    attempt: int = 0
    """How often it was begun or continued."""
    log: str = ""
    """The file, in the same folder, that holds what was printed."""
    seconds: float = 0.0
    """Seconds of all attempts that were not killed."""
    cpu_seconds: float = 0.0
    """Processor time of these, with that of the processes they started."""
    sentence: str = ""
    """Why it failed."""

    def write(self, run: Path) -> None:
        """Write it beside the run's folder."""
        write_json(status_file(run), dataclasses.asdict(self))


def status_file(run: Path) -> Path:
    """Where the status of a run stands."""
    return run.with_name(f"{run.name}.status.json")


def log_file(run: Path) -> Path:
    """Where what a run prints is kept."""
    return run.with_name(f"{run.name}.log")


def read_status(run: Path) -> Status:
    """The status of a run; the run's folder has priority over the file beside it."""
    path = status_file(run)
    status = Status()
    if path.exists():
        content: dict[str, Any] = read_json(path)
        types = get_type_hints(Status)
        for name, value in content.items():
            if name not in types or not fits(value, types[name]):
                raise UserError(f"{path} is damaged: {name} is {value!r}")
        status = Status(**content)
    if RunFolder(run).finished:
        return dataclasses.replace(status, state="done", sentence="")
    return dataclasses.replace(status, state="waiting") if status.state == "done" else status
