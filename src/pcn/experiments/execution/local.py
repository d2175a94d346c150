"""Execution on this machine: worker processes with one core each."""

import json
import os
import queue
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pcn.errors import UserError
from pcn.experiments.execution.abstract import AbstractExecutor, make_writable
from pcn.experiments.execution.task import Ended, Moved, ShouldStop, Task, TaskEvent, Tell
from pcn.experiments.execution.uploads import Uploads
from pcn.experiments.execution.waiting import WaitingTasks
from pcn.worker_processes import start_worker

LOST_ATTEMPTS = 2
"""How often the process of a run may die before the run counts as failed."""
MOST_MB = 3_000.0
"""A worker that has used more memory is replaced, because it keeps the programs of all its runs."""
GRACE_SECONDS = 10.0
"""Seconds that idle workers may take to end."""
ASK_SECONDS = 0.2

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
"""Environment variables of workers, so that libraries do not start a thread for every core."""


class LocalExecutor(AbstractExecutor):
    """Worker processes that stay alive over many runs.

    Args:
        jobs: How many; by default one for each core that this process may use.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self._cores = usable_cores()
        if jobs is not None and jobs < 1:
            raise UserError(f"jobs must be at least 1, got {jobs}")
        self._jobs = len(self._cores) if jobs is None else jobs

    @property
    def num_jobs(self) -> int:
        """How many worker processes there are."""
        return self._jobs

    def check(self, folder: Path, upload: str | None = None) -> None:
        """Raise a `UserError` if the folder, or the URL to upload to, cannot be written to."""
        make_writable(folder)
        if upload is not None:
            Uploads(upload).check()

    def execute(self, tasks: Sequence[Task], tell: Tell, should_stop: ShouldStop) -> None:
        """Give each worker the next task whenever it has none."""
        waiting = WaitingTasks(tasks, tell, lost_attempts=LOST_ATTEMPTS)
        inbox: queue.Queue[tuple[_Worker, TaskEvent | None]] = queue.Queue()
        slots: list[_Worker | None] = [None] * min(self._jobs, len(waiting))
        try:
            while True:
                if should_stop() and not waiting.stopped:
                    waiting.stop()
                    for worker in slots:
                        if worker is not None:
                            worker.stop()
                for index, worker in enumerate(slots):
                    if waiting and (worker is None or worker.task is None):
                        worker = worker or _Worker(self._cores[index % len(self._cores)], inbox)
                        slots[index] = worker
                        worker.begin(waiting.begin_next())
                if not any(worker is not None and worker.task is not None for worker in slots):
                    return
                with suppress(queue.Empty):
                    worker, event = inbox.get(timeout=ASK_SECONDS)
                    if worker not in slots:
                        continue
                    if self._hear(worker, event, waiting, tell):
                        slots[slots.index(worker)] = None
        finally:
            for worker in slots:
                if worker is not None:
                    worker.end(at_once=worker.task is not None)

    def _hear(
        self, worker: "_Worker", event: TaskEvent | None, waiting: WaitingTasks, tell: Tell
    ) -> bool:
        """Pass on a worker's message, None being its end; True if the worker must be replaced."""
        if event is None:
            worker.end(at_once=False)
            if worker.task is not None:
                waiting.lose(worker.task, worker.told_end)
            return True
        if isinstance(event, Ended):
            worker.task = None
        tell(event)
        if isinstance(event, Ended) and event.peak_mb > MOST_MB:
            worker.end(at_once=False)
            return True
        return False


class _Worker:
    """A worker process, as the main process sees it."""

    def __init__(
        self, core: int | None, inbox: "queue.Queue[tuple[_Worker, TaskEvent | None]]"
    ) -> None:
        self.task: Task | None = None
        self._process = start_worker(
            "pcn.experiments.execution.worker",
            *([] if core is None else [str(core)]),
            variables=ONE_THREAD,
        )
        self._listener = threading.Thread(target=self._listen, args=(inbox,), daemon=True)
        self._listener.start()

    def begin(self, task: Task) -> None:
        """Give the worker a task."""
        self.task = task
        self._send(task.to_json())

    def stop(self) -> None:
        """Make the active run save a checkpoint and end."""
        self._send({"stop": True})

    def end(self, *, at_once: bool) -> None:
        """End the process; without `at_once` it may clean up first."""
        assert self._process.stdin is not None, "the input is a pipe"
        with suppress(OSError):
            self._process.stdin.close()
        if at_once:
            self._process.kill()
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(GRACE_SECONDS)

    @property
    def told_end(self) -> str:
        """How the process ended, in words."""
        code = self._process.returncode
        how = f"was killed by signal {-code}" if code and code < 0 else f"ended with code {code}"
        return f"its worker process {self._process.pid} {how}"

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None, "the input is a pipe"
        with suppress(OSError):  # the thread that reads its output reports its end
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()

    def _listen(self, inbox: "queue.Queue[tuple[_Worker, TaskEvent | None]]") -> None:
        assert self._process.stdout is not None, "the output is a pipe"
        with self._process.stdout as messages:
            for line in messages:
                [(kind, content)] = json.loads(line).items()
                inbox.put((self, (Ended if kind == "Ended" else Moved)(**content)))
        inbox.put((self, None))


def usable_cores() -> list[int | None]:
    """The cores that this process may use; None for each if the system does not list them."""
    if hasattr(os, "sched_getaffinity"):
        return [*sorted(os.sched_getaffinity(0))]
    return [None] * (os.cpu_count() or 1)
