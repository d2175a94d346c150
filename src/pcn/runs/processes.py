"""Which processes are alive, by their ids."""

import os
from pathlib import Path


def birth(pid: int) -> str:
    """The start time of a process, in the system's unit; empty if it has ended, or is not known."""
    try:
        # The second field is the name in parentheses, which may hold anything.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]  # ended, and not yet collected
    except (OSError, IndexError):
        return ""


def is_alive(pid: int, born: str = "") -> bool:
    """Whether a process of this machine is alive; with `born`, only one that started then."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's process
        pass
    # The id may have been given to another process since.
    return not born or birth(pid) == born
