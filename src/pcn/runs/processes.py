"""Processes by their numbers: which of them are alive."""

import os
from pathlib import Path


def birth(pid: int) -> str:
    """When a process began, in the system's own unit; empty if it has ended, or is not told."""
    try:
        # The second field is the name in parentheses, which may hold anything.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]  # ended, and not yet collected
    except (OSError, IndexError):
        return ""


def is_alive(pid: int, born: str = "") -> bool:
    """Whether a process of this machine lives: the one that was `born` then, if that is known."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's process
        pass
    # The number may have gone to another process since.
    return not born or birth(pid) == born
