"""Execution in a thread of this process, for runs that exist nowhere else."""

import queue
import threading
from collections.abc import Callable
from typing import Any

from pcn.errors import UserError
from pcn.explorer.pictures import LIVE_FILM, FilmSize
from pcn.explorer.requests import CommandRequest, PolicyRequest
from pcn.explorer.rollouts import Limits, Performer
from pcn.explorer.shown_runs import ShownRun
from pcn.explorer.stage import AbstractStage, ExecutionError
from pcn.explorer.worker import execute

CLOSE_SECONDS = 5.0
"""Seconds that the current step may take when the page is closed."""


class ThreadStage(AbstractStage):
    """Executes in a thread of this process, which cannot be ended: one that hangs is left alone.

    Runs that were trained here, perhaps with an environment that was defined here, exist nowhere
    else.
    """

    def __init__(self) -> None:
        self._performers: dict[int, Performer] = {}
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._answers: queue.Queue[dict[str, Any] | Exception] = queue.Queue()

    def prepare(self, shown: ShownRun) -> None:
        """Do nothing: a thread needs no preparation."""

    def execute(
        self,
        shown: ShownRun,
        request: PolicyRequest | CommandRequest,
        *,
        seconds: float,
        film: FilmSize = LIVE_FILM,
    ) -> dict[str, Any]:
        """Execute it in a new thread; nothing more is executed while an old one hangs."""
        if self._thread is not None and self._thread.is_alive():
            raise UserError(
                "An earlier rollout hangs in its environment, so nothing can be executed."
            )
        answers = self._answers = queue.Queue()
        self._thread = threading.Thread(
            target=_answer, args=(answers, lambda: self._perform(shown, request, film)), daemon=True
        )
        self._thread.start()
        try:
            answer = answers.get(timeout=seconds)
        except queue.Empty:
            raise UserError(
                f"The environment {shown.run.spec.name} has not answered within {seconds:.0f} "
                "seconds; nothing more can be executed before it does."
            ) from None
        self._thread = None  # its result is not needed any more
        if isinstance(answer, UserError):
            raise answer
        if isinstance(answer, Exception):
            raise ExecutionError(str(answer) or type(answer).__name__) from answer
        return answer

    def _perform(
        self, shown: ShownRun, request: PolicyRequest | CommandRequest, film: FilmSize
    ) -> dict[str, Any]:
        performer = self._performers.get(id(shown))
        if performer is None:
            performer = self._performers[id(shown)] = Performer(shown.acting)
        return execute(performer, request, Limits(film=film, stopped=self._closed.is_set))

    def close(self) -> None:
        """Stop after the step under way, and close the environments; one that hangs is left."""
        self._closed.set()
        self._answers.put(UserError("The page is closed."))
        thread = self._thread  # `execute` forgets it once it has a result
        if thread is not None:
            thread.join(CLOSE_SECONDS)
            if thread.is_alive():
                return
        for performer in self._performers.values():
            performer.close()
        self._performers = {}


def _answer(
    answers: "queue.Queue[dict[str, Any] | Exception]", work: Callable[[], dict[str, Any]]
) -> None:
    try:
        answers.put(work())
    except Exception as error:  # whatever the environment's own code raises
        answers.put(error)
