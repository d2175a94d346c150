"""A worker process: carries out one task after the other, on one core.

`python -m pcn.experiments.execution.worker CORE` reads a JSON object per line from standard input:
a task, or `{"stop": true}`, after which the active run saves a checkpoint and ends. It writes
events to standard output in the same form. It also stops when the input ends, so a worker does not
outlive the process that started it.
"""

import dataclasses
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any, TextIO

from pcn.experiments.execution.bench import Bench
from pcn.experiments.execution.task import Task, TaskEvent
from pcn.worker_processes import take_streams


def main(core: int | None) -> None:
    """Carry out tasks until there are no more."""
    # The process that started the worker decides when it stops.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    source, sink = take_streams()
    stop, tasks = threading.Event(), queue.Queue[Task | None]()
    threading.Thread(target=_listen, args=(source, tasks, stop), daemon=True).start()
    bench = Bench()

    def tell(event: TaskEvent) -> None:
        _send(sink, type(event).__name__, dataclasses.asdict(event))

    try:
        for task in iter(tasks.get, None):
            tell(bench.perform(task, tell, stop.is_set))
    except BrokenPipeError:  # nobody listens any more
        pass
    finally:
        bench.clear()


def _listen(source: TextIO, tasks: "queue.Queue[Task | None]", stop: threading.Event) -> None:
    """Put tasks into the queue as they arrive, and None behind the last one."""
    for message in _messages(source):
        if "stop" in message:
            stop.set()
        else:
            tasks.put(Task.from_json(message))
    stop.set()
    tasks.put(None)


def _messages(source: TextIO) -> Iterator[dict[str, Any]]:
    for line in source:
        yield json.loads(line)


def _send(sink: TextIO, kind: str, content: dict[str, Any]) -> None:
    print(json.dumps({kind: content}), file=sink, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else None)
