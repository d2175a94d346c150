"""Report errors of an environment's own code, and close environments in spite of them."""

import logging
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, runtime_checkable

from pcn.errors import in_one_line

logger = logging.getLogger(__name__)


@runtime_checkable
class Closable(Protocol):
    """An object that can be closed: a Gymnasium environment, or one of this package."""

    def close(self) -> object:
        """Release all resources."""


def failure_of(error: BaseException) -> str:
    """What failed in an environment's own code, and in which line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    lines = traceback.format_exception_only(error)
    # A syntax error shows the line of the program first.
    what = in_one_line(lines[-1] if isinstance(error, SyntaxError) else "".join(lines))
    return f"it failed at {Path(place.filename).name}:{place.lineno}: {what}"


def close_all(environments: Iterable[Closable], name: str) -> None:
    """Close environments, whatever their own code raises; the first failure is logged.

    An error in closing, such as a socket that is gone already, must not cost a training its result.
    """
    failures = []
    for environment in environments:
        try:
            environment.close()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failures.append(error)
    if failures:
        logger.warning("%s could not be closed: %s", name, failure_of(failures[0]))
