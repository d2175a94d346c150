"""What an environment's own code raises: how it is told, and how closing goes on after it."""

import logging
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, runtime_checkable

logger = logging.getLogger(__name__)


@runtime_checkable
class Closable(Protocol):
    """What can be closed: a Gymnasium environment, or one of this package."""

    def close(self) -> object:
        """Release what is held."""


def failure_of(error: BaseException) -> str:
    """What failed in an environment's own code, and in which line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    what = traceback.format_exception_only(error)[-1].strip()
    return f"it failed at {Path(place.filename).name}:{place.lineno}: {what}"


def close_all(environments: Iterable[Closable], name: str) -> None:
    """Close environments, whatever their own code raises; the first failure is logged.

    A socket or a viewer that is gone already must not cost a training its result.
    """
    failures = []
    for environment in environments:
        try:
            environment.close()
        except (Exception, SystemExit) as error:
            failures.append(error)
    if failures:
        logger.warning("%s could not be closed: %s", name, failure_of(failures[0]))
