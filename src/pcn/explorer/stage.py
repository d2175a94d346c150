"""The interface for executing policies with a time limit."""

from abc import ABC, abstractmethod
from typing import Any

from pcn.explorer.pictures import LIVE_FILM, FilmSize
from pcn.explorer.requests import CommandRequest, PolicyRequest
from pcn.explorer.shown_runs import ShownRun

ANSWER_SECONDS = 90.0
"""Seconds until a rollout is given up: 60 for itself, the rest for imports."""


class ExecutionError(Exception):
    """The environment or the network failed while a policy was executed."""


class AbstractStage(ABC):
    """Executes one policy at a time; `close` may be called from another thread."""

    @abstractmethod
    def prepare(self, shown: ShownRun) -> None:
        """Prepare for policies of a run, without waiting."""

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
        """Stop the current rollout, and release everything."""
