"""What the server serves: the document, one rollout at a time, and policies to take away."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from pcn.errors import UserError
from pcn.explorer.document import document_of
from pcn.explorer.export import zipped_policy
from pcn.explorer.requests import CommandRequest, PolicyRequest
from pcn.explorer.rollouts import Limits, Performer
from pcn.explorer.shown_runs import ShownRun

MOST_KEPT = 32
"""Rollouts that are kept, so that a policy that is watched again is not executed again."""


class Busy(Exception):
    """Another rollout is under way."""


class Explorer:
    """Runs of one environment, to look at and to execute; safe to use from several threads.

    Args:
        runs: What is shown.
        left_out: A sentence for each run that was named and cannot be shown.
        before_acting: Called once before the first policy acts, such as to set JAX up.
    """

    def __init__(
        self,
        runs: Sequence[ShownRun],
        left_out: Sequence[str] = (),
        *,
        before_acting: Callable[[], None] = lambda: None,
    ) -> None:
        self.runs = list(runs)
        self._before_acting = before_acting
        self.left_out = list(left_out)
        self._performers: dict[int, Performer] = {}
        self._kept: OrderedDict[PolicyRequest | CommandRequest, dict[str, Any]] = OrderedDict()
        self._working = threading.Lock()
        self._closed = threading.Event()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document of the live page."""
        return document_of(self.runs, live=True, left_out=self.left_out)

    def rollout(self, request: PolicyRequest | CommandRequest) -> dict[str, Any]:
        """Execute what is asked for, or hand out what was executed before.

        Raises:
            Busy: If another rollout is under way.
            UserError: If it cannot be executed.
        """
        with self._work():
            if request in self._kept:
                self._kept.move_to_end(request)
                return self._kept[request]
            rollout = {"run": request.run, **self._execute(request)}
            self._kept[request] = rollout
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
            return rollout

    def _execute(self, request: PolicyRequest | CommandRequest) -> dict[str, Any]:
        shown, limits = self.runs[request.run], Limits(stopped=self._closed.is_set)
        asks = isinstance(request, CommandRequest)
        why_not = shown.why_not_asked if asks else shown.why_not_watched
        if why_not is not None:
            raise UserError(why_not)
        if request.run not in self._performers:
            if not self._performers:
                self._before_acting()
            self._performers[request.run] = Performer(shown.acting)
        performer = self._performers[request.run]
        if isinstance(request, CommandRequest):
            return performer.execute_command(
                request.desired_return, request.horizon, seed=request.seed, limits=limits
            )
        return performer.execute_policy(request.policy, seed=request.seed, limits=limits)

    def zipped(self, request: PolicyRequest) -> tuple[str, bytes]:
        """The name and the content of a zip file with one policy as a run of its own."""
        shown = self.runs[request.run]
        name = f"{_file_name(shown.name)}-policy-{request.policy}"
        with self._work():
            return f"{name}.zip", zipped_policy(shown.acting, request.policy, name=name)

    def close(self) -> None:
        """Stop the rollout that is under way, and close the environments."""
        self._closed.set()
        with self._working:
            for performer in self._performers.values():
                performer.close()
            self._performers = {}

    @contextmanager
    def _work(self) -> Iterator[None]:
        if self._closed.is_set() or not self._working.acquire(blocking=False):
            raise Busy
        try:
            yield
        finally:
            self._working.release()


def _file_name(name: str) -> str:
    """A run's name with nothing but letters, digits, `-` and `_`.

    >>> _file_name("runs/dst (new)")
    'runs-dst--new-'
    """
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name)
    return kept.lstrip("-") or "run"
