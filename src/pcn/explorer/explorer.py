"""The content that the server serves: the document, rollouts, and policies to save."""

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
from pcn.explorer.shown_runs import ShownRun
from pcn.explorer.stage import ANSWER_SECONDS
from pcn.explorer.stages import Stages

MOST_KEPT = 32
"""Rollouts that are kept, so that a policy is not executed twice."""


class Busy(Exception):
    """Another rollout is under way."""


class Explorer:
    """Runs of one environment, to look at and to execute; safe to use from several threads.

    Args:
        runs: What is shown.
        left_out: A sentence for each run that was named and cannot be shown.
        before_acting: Called before weights are read in this process, such as to set JAX up.
        own_process: Whether runs on disk are executed in a process of their own, which can be ended
            when an environment hangs, rather than in a thread.
        answer_seconds: When a rollout is given up.
    """

    def __init__(
        self,
        runs: Sequence[ShownRun],
        left_out: Sequence[str] = (),
        *,
        before_acting: Callable[[], None] = lambda: None,
        own_process: bool = True,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.runs = list(runs)
        self._before_acting = before_acting
        self.left_out = list(left_out)
        self._stages = Stages(own_process=own_process)
        self._answer_seconds = answer_seconds
        self._kept: OrderedDict[PolicyRequest | CommandRequest, dict[str, Any]] = OrderedDict()
        self._executing, self._exporting = threading.Lock(), threading.Lock()
        self._keeping = threading.Lock()
        self._closed = threading.Event()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document of the live page."""
        return document_of(self.runs, live=True, left_out=self.left_out)

    def prepare(self) -> None:
        """Prepare the first rollout of the first run, without waiting for it."""
        first = self.runs[0]
        if first.why_not_watched is None and not self._closed.is_set():
            self._stages.of(first).prepare(first)

    def rollout(self, request: PolicyRequest | CommandRequest) -> dict[str, Any]:
        """Execute what is asked for, or hand out what was executed before.

        Raises:
            Busy: If another rollout is under way.
            UserError: If it cannot be executed, or takes too long.
            ExecutionError: If it fails.
        """
        kept = self._kept_rollout(request)
        if kept is not None:
            return kept
        with self._alone(self._executing):
            rollout = {"run": request.run, **self._execute(request)}
        with self._keeping:
            self._kept[request] = rollout
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return rollout

    def _execute(self, request: PolicyRequest | CommandRequest) -> dict[str, Any]:
        shown = self.runs[request.run]
        asks = isinstance(request, CommandRequest)
        why_not = shown.why_not_asked if asks else shown.why_not_watched
        if why_not is not None:
            raise UserError(why_not)
        return self._stages.of(shown).execute(shown, request, seconds=self._answer_seconds)

    def _kept_rollout(self, request: PolicyRequest | CommandRequest) -> dict[str, Any] | None:
        with self._keeping:
            if request in self._kept:
                self._kept.move_to_end(request)
            return self._kept.get(request)

    def zipped(self, request: PolicyRequest) -> tuple[str, bytes]:
        """The name and the content of a zip file with one policy as a run of its own.

        Raises:
            Busy: If another policy is being zipped.
            UserError: If its run cannot be read.
        """
        shown = self.runs[request.run]
        name = f"{_file_name(shown.name)}-policy-{request.policy}"
        with self._alone(self._exporting):
            self._before_acting()
            return f"{name}.zip", zipped_policy(shown.acting, request.policy, name=name)

    def close(self) -> None:
        """Stop the rollout that is under way, and close the environments."""
        self._closed.set()
        self._stages.close()

    @contextmanager
    def _alone(self, lock: threading.Lock) -> Iterator[None]:
        if self._closed.is_set() or not lock.acquire(blocking=False):
            raise Busy
        try:
            yield
        finally:
            lock.release()


def _file_name(name: str) -> str:
    """A run's name with nothing but letters, digits, `-` and `_`.

    >>> _file_name("runs/dst (new)")
    'runs-dst--new-'
    """
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name)
    return kept.lstrip("-") or "run"
