"""Processor time: of this process, of its children, and of worker processes of a fork server."""

import os
from pathlib import Path

_workers: dict[int, float] = {}
"""Seconds of the workers under way, by their numbers, as they were last read."""
_ended = 0.0
"""Seconds of the workers that were under way once."""


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
    """From now on, `cpu_seconds` includes a worker process that is no child of this one."""
    _workers[pid] = 0.0


def keep_worker(pid: int) -> None:
    """Remember what a worker has used so far; to be called before it is ended."""
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
