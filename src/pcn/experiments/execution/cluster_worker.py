"""What runs on the nodes of a Ray cluster: the worker that is an actor there, and a probe.

Nothing here imports Ray: the executor turns the class into an actor, and the function into a task.
"""

import os
import queue
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from pcn.experiments.execution.bench import Bench
from pcn.experiments.execution.task import Task, TaskEvent
from pcn.version import __version__


class ClusterWorker:
    """Carries out one task after the other, in one thread, and answers in others."""

    def __init__(self) -> None:
        self._bench = Bench()
        self._stop = threading.Event()
        self._events = queue.Queue[TaskEvent]()

    def perform(self, task: dict[str, Any]) -> None:
        """Carry out a task, as `Task.to_json` writes it; `hear` tells what becomes of it."""
        put = self._events.put
        put(self._bench.perform(Task.from_json(task), put, self._stop.is_set))

    def hear(self, seconds: float) -> list[TaskEvent]:
        """What has happened since the last call; waits so long for something to happen."""
        events: list[TaskEvent] = []
        with suppress(queue.Empty):
            events.append(self._events.get(timeout=seconds))
            while True:
                events.append(self._events.get_nowait())
        return events

    def stop(self) -> None:
        """Have the run under way save a checkpoint and end."""
        self._stop.set()

    def clear(self) -> None:
        """Remove what only this process needs."""
        self._bench.clear()


def look_at(probe: Path, content: str) -> tuple[str, str]:
    """The version of this package here, and what is wrong with a file that was written elsewhere.

    The second is empty if the file has that content and the folder can be written to.
    """
    try:
        if probe.read_text() != content:
            return __version__, "holds another folder under that name"
    except OSError:
        return __version__, "does not see it"
    return __version__, "" if os.access(probe.parent, os.W_OK) else "cannot write to it"
