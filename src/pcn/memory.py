"""The memory that is available on this machine; refuse requests that need more."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pcn.errors import UserError, in_one_line


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


@contextmanager
def telling_of_memory(instead: str) -> Iterator[None]:
    """Raise a `UserError` where memory does not suffice; `instead` says what to do.

    It is for the rare request that is not refused before: nobody can know all that is needed.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # JAX has no class of its own for it.
        if not isinstance(error, MemoryError) and "RESOURCE_EXHAUSTED" not in str(error):
            raise
        what = in_one_line(str(error).partition("\n")[0]) or "nothing is left"
        raise UserError(f"there is not enough memory ({what}): {instead}") from error
