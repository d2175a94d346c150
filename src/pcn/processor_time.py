"""CPU time of this process, of its children, and of the worker processes of a fork server."""

import os
from pathlib import Path

_workers: dict[int, float] = {}
"""CPU seconds of the running workers by their process ids, when last read."""
_ended = 0.0
"""CPU seconds of the workers that have ended."""


def cpu_seconds() -> float:
    """CPU time of this process so far, of its children that have ended, and of its workers.

    A fork server's workers are its children, so the system does not add them to this process.
    Where there is no `/proc`, they do not count. Processes on other machines never do.
    """
    for pid in list(_workers):
        _workers[pid] = max(_workers[pid], _seconds_of(pid))
    times = os.times()
    own = times.user + times.system + times.children_user + times.children_system
    return own + _ended + sum(_workers.values())


def count_worker(pid: int) -> None:
    """Include a worker process that is not a child of this process in `cpu_seconds` from now on."""
    _workers[pid] = 0.0


def keep_worker(pid: int) -> None:
    """Store the CPU time of a worker; call it before the worker is ended."""
    global _ended
    before = _workers.pop(pid, None)
    if before is not None:
        _ended += max(before, _seconds_of(pid))


def _seconds_of(pid: int) -> float:
    """CPU time of a process and of its children that have ended; zero for a child of this one."""
    try:
        # The second field is the name in parentheses, which may hold anything.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        if int(fields[1]) == os.getpid():  # the system adds it up once it has ended
            return 0.0
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0.0
