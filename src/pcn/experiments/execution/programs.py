"""Compiled programs that processes share.

JAX writes its files in place. A process that reads a file while another one writes it gets half a
program, and a process that is killed leaves half a program behind forever. So each process lets JAX
write to a folder of its own. Between two runs, when nothing is being written, it links its new
programs into the shared folder, and the new programs of others into its own.
"""

import os
import shutil
import socket
from contextlib import suppress
from pathlib import Path

from pcn.runs.processes import birth, is_alive

ENDING = "-cache"
"""The suffixes of JAX's files."""


class SharedPrograms:
    """The compiled programs of this process and of all others that use the same folder."""

    def __init__(self, folder: Path) -> None:
        self.shared = folder / "shared"
        processes = folder / "processes"
        self.own = processes / f"{socket.gethostname()}.{os.getpid()}.{birth(os.getpid())}"
        self.shared.mkdir(parents=True, exist_ok=True)
        _remove_those_of_dead_processes(processes)
        self.own.mkdir(parents=True)

    def fetch(self) -> None:
        """Get the new programs of other processes."""
        _link_new(self.shared, self.own)

    def publish(self) -> None:
        """Share the new programs of this process; nothing may be compiled meanwhile."""
        _link_new(self.own, self.shared)

    def remove(self) -> None:
        """Remove this process's own folder; what it has published stays."""
        shutil.rmtree(self.own, ignore_errors=True)


def _link_new(source: Path, target: Path) -> None:
    """Link the programs that a folder does not have yet, each in one step."""
    with suppress(OSError):  # a full disk, say: programs are compiled again
        present = set(os.listdir(target))
        for name in os.listdir(source):
            if name.endswith(ENDING) and name not in present:
                with suppress(FileExistsError):
                    _link(source / name, target / name)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            shutil.copyfile(source, temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _remove_those_of_dead_processes(folder: Path) -> None:
    """Remove the folders of processes of this machine that were killed."""
    for path in folder.glob(f"{socket.gethostname()}.*"):
        pid, _, born = path.name.removeprefix(f"{socket.gethostname()}.").partition(".")
        if pid.isdecimal() and not is_alive(int(pid), born):
            shutil.rmtree(path, ignore_errors=True)
