"""The memory that is available on this machine; refuse requests that need more."""

import os
from pathlib import Path

from pcn.errors import UserError


def available_bytes() -> int | None:
    """Memory that can be used without swapping, as far as the system reports it."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def refuse_without_memory(num_bytes: float, what: str, instead: str) -> None:
    """Raise a `UserError` if more memory is needed than there is; `instead` says what to do."""
    there = available_bytes()
    if there is not None and num_bytes > there:
        raise UserError(
            f"{what} would need {num_bytes / 1e9:,.0f} GB of memory and {there / 1e9:,.0f} GB are "
            f"free: {instead}"
        )
