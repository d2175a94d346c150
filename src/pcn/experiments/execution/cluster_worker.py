"""Code that runs on the nodes of a Ray cluster: the worker, and a probe.

Nothing here imports Ray: the executor turns the class into an actor, and the function into a task.
"""

import os
import queue
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from pcn.errors import UserError
from pcn.experiments.execution.bench import Bench
from pcn.experiments.execution.task import Task, TaskEvent
from pcn.experiments.execution.uploads import Uploads
from pcn.version import __version__


class ClusterWorker:
    """Carries out one task after the other in one thread, and answers in others."""

    def __init__(self) -> None:
        self._bench = Bench()
        self._stop = threading.Event()
        self._events = queue.Queue[TaskEvent]()

    def perform(self, task: dict[str, Any]) -> None:
        """Carry out a task, as `Task.to_json` writes it; `hear` returns its events."""
        put = self._events.put
        put(self._bench.perform(Task.from_json(task), put, self._stop.is_set))

    def hear(self, seconds: float) -> list[TaskEvent]:
        """The events since the last call; waits up to that time for one."""
        events: list[TaskEvent] = []
        with suppress(queue.Empty):
            events.append(self._events.get(timeout=seconds))
            while True:
                events.append(self._events.get_nowait())
        return events

    def stop(self) -> None:
        """Make the active run save a checkpoint and end."""
        self._stop.set()

    def clear(self) -> None:
        """Remove the files that only this process needs."""
        self._bench.clear()


def look_at(place: Path | str, content: str) -> tuple[str, str]:
    """The version of this package here, and what is wrong with a probe that was written elsewhere.

    The place is a file, or a URL that runs are uploaded to. The second result is empty if the place
    holds the content and can be written to.
    """
    return __version__, _wrong_url(place, content) if isinstance(place, str) else _wrong_file(
        place, content
    )


def _wrong_url(url: str, content: str) -> str:
    try:
        uploads = Uploads(url)
        if not uploads.sees_probe(content):
            return "finds something else there"
        uploads.check()
    except UserError as error:
        return str(error)
    return ""


def _wrong_file(probe: Path, content: str) -> str:
    try:
        if probe.read_text() != content:
            return "holds another folder under that name"
    except OSError:
        return "does not see it"
    return "" if os.access(probe.parent, os.W_OK) else "cannot write to it"
