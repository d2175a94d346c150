"""Where policies are executed, for a server that may not wait for ever."""

from abc import ABC, abstractmethod
from typing import Any

from pcn.explorer.pictures import LIVE_FILM, FilmSize
from pcn.explorer.requests import CommandRequest, PolicyRequest
from pcn.explorer.shown_runs import ShownRun

ANSWER_SECONDS = 90.0
"""A rollout is given up after so long: it may take 60 seconds itself, the rest is for importing."""


class ExecutionError(Exception):
    """The environment or the network failed while a policy was executed."""


class AbstractStage(ABC):
    """Executes one policy at a time; `close` may be called from another thread."""

    @abstractmethod
    def prepare(self, shown: ShownRun) -> None:
        """Get ready to execute policies of a run, without waiting for it."""

    @abstractmethod
    def execute(
        self,
        shown: ShownRun,
        request: PolicyRequest | CommandRequest,
        *,
        seconds: float,
        film: FilmSize = LIVE_FILM,
    ) -> dict[str, Any]:
        """The rollout, with its film in this size.

        Raises:
            UserError: If it cannot be executed, or has not come back after so many seconds.
            ExecutionError: If it failed.
        """

    @abstractmethod
    def close(self) -> None:
        """Stop what is under way, and free what was made."""
