"""Execution on a Ray cluster: workers on all its nodes, one core each."""

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pcn.cluster import AUTO, connected, nodes_with_cores, reason_of, told_node, worker_environment
from pcn.errors import UserError
from pcn.experiments.execution.abstract import AbstractExecutor, make_writable
from pcn.experiments.execution.cluster_worker import ClusterWorker, look_at
from pcn.experiments.execution.local import ASK_SECONDS, GRACE_SECONDS, MOST_MB, ONE_THREAD
from pcn.experiments.execution.task import Ended, ShouldStop, Task, TaskEvent, Tell
from pcn.experiments.execution.uploads import Uploads
from pcn.experiments.execution.waiting import WaitingTasks
from pcn.version import __version__

LOST_ATTEMPTS = 4
"""How often a run may lose its worker before it counts as failed: nodes come and go."""
HEAR_SECONDS = 1.0
"""Seconds that a worker waits for news before it answers that there are none."""
PROBE_SECONDS = 60.0
"""Seconds that a node may take to check the experiment's folder."""
NO_CORE_SECONDS = 60.0
"""Seconds without any free core after which the execution gives up."""


class RayExecutor(AbstractExecutor):
    """Workers on the nodes of a Ray cluster, which stay alive over many runs.

    The experiment's folder must be the same folder under the same path on every node, unless the
    runs are uploaded (`Task.upload`). A run whose worker or node is lost continues from its
    checkpoint in another worker. If the lost worker is still alive, it notices before it writes
    again.

    Args:
        address: `HOST:PORT` of the head node, or `auto` for the cluster that this machine is in.
        jobs: The most workers; by default one for each core of the cluster.
    """

    def __init__(self, address: str = AUTO, jobs: int | None = None) -> None:
        if jobs is not None and jobs < 1:
            raise UserError(f"jobs must be at least 1, got {jobs}")
        self._address = address
        with connected(address) as ray:
            cores = sum(int(node["Resources"]["CPU"]) for node in nodes_with_cores(ray))
        if not cores:
            raise UserError(f"the Ray cluster at {address} has no node with a core")
        self._jobs = cores if jobs is None else min(jobs, cores)

    @property
    def num_jobs(self) -> int:
        """The number of workers if all nodes are there and idle."""
        return self._jobs

    def check(self, folder: Path, upload: str | None = None) -> None:
        """Raise a `UserError` that names a node with another folder or another version of this
        package.

        With `upload`, the URL is checked instead of the folder.
        """
        make_writable(folder)
        probe = _probe_in(folder) if upload is None else _probe_at(upload)
        with connected(self._address) as ray, probe as (place, content):
            for node in nodes_with_cores(ray):
                wrong = _look_from(ray, node, place, content)
                if wrong and upload is not None:
                    raise UserError(f"the Ray node {told_node(node)} cannot use {upload}: {wrong}")
                if wrong:
                    raise UserError(
                        f"{folder} is not shared by all nodes: the Ray node {told_node(node)} "
                        f"{wrong}; choose an --out that every node sees under the same path, or "
                        "have runs uploaded to one place with --upload URL"
                    )

    def execute(self, tasks: Sequence[Task], tell: Tell, should_stop: ShouldStop) -> None:
        """Give each worker the next task whenever it has none."""
        waiting = WaitingTasks(tasks, tell, lost_attempts=LOST_ATTEMPTS)
        with connected(self._address) as ray:
            crew = _Crew(ray, self._jobs)
            try:
                while waiting or crew.busy:
                    if should_stop() and not waiting.stopped:
                        waiting.stop()
                        for worker in crew.busy:
                            worker.stop()
                    crew.hire(len(waiting))
                    for worker in crew.idle[: len(waiting)]:
                        worker.begin(waiting.begin_next())
                    for worker, news in crew.hear():
                        if isinstance(news, str):
                            if worker.task is not None:
                                waiting.lose(worker.task, news)
                            crew.dismiss(worker)
                        else:
                            _pass_on(news, worker, crew, tell)
                    crew.check_for_cores(self._address)
            finally:
                crew.disband()


def _pass_on(events: list[TaskEvent], worker: "_Worker", crew: "_Crew", tell: Tell) -> None:
    for event in events:
        if isinstance(event, Ended):
            worker.task = None
            if event.peak_mb > MOST_MB:
                crew.dismiss(worker)
        tell(event)


class _Crew:
    """The workers. One that still waits for a free core gets no task."""

    def __init__(self, ray: Any, most: int) -> None:
        self._ray = ray
        self._most = most
        self._workers: list[_Worker] = []
        self._last_core = time.monotonic()

    @property
    def busy(self) -> list["_Worker"]:
        return [worker for worker in self._workers if worker.task is not None]

    @property
    def idle(self) -> list["_Worker"]:
        return [worker for worker in self._workers if worker.ready and worker.task is None]

    def hire(self, num_waiting: int) -> None:
        """Start as many workers as there is work for."""
        wanted = min(self._most, num_waiting + len(self.busy))
        for _ in range(wanted - len(self._workers)):
            self._workers.append(_Worker(self._ray))

    def hear(self) -> Iterator[tuple["_Worker", list[TaskEvent] | str]]:
        """The messages of the workers, and the loss of workers."""
        asked = {worker.answer: worker for worker in self._workers if worker.answer is not None}
        if not asked:
            return
        answered, _ = self._ray.wait([*asked], num_returns=len(asked), timeout=ASK_SECONDS)
        for answer in answered:
            worker = asked[answer]
            try:
                events = self._ray.get(answer)
            except self._ray.exceptions.RayActorError as error:
                yield worker, f"its worker on the cluster was lost: {reason_of(error)}"
            else:
                worker.ready = True
                yield worker, events
                worker.ask()

    def check_for_cores(self, address: str) -> None:
        """Raise a `UserError` if there has been no core for a while, because nothing would ever
        happen."""
        if any(worker.ready for worker in self._workers) or nodes_with_cores(self._ray):
            self._last_core = time.monotonic()
        elif time.monotonic() - self._last_core > NO_CORE_SECONDS:
            raise UserError(
                f"the Ray cluster at {address} has no node with a core any more; "
                "start the same command again once it has: runs go on from their checkpoints"
            )

    def dismiss(self, worker: "_Worker") -> None:
        """End one worker."""
        self._workers.remove(worker)
        self._ray.kill(worker.actor)

    def disband(self) -> None:
        """End all workers; idle ones may clean up first."""
        with suppress(self._ray.exceptions.RayError):
            cleared = [worker.actor.clear.remote() for worker in self.idle]
            self._ray.get(cleared, timeout=GRACE_SECONDS)
        for worker in [*self._workers]:
            self.dismiss(worker)


class _Worker:
    """A worker on some node, as the main process sees it."""

    def __init__(self, ray: Any) -> None:
        actor_class = ray.remote(ClusterWorker).options(
            num_cpus=1,
            max_concurrency=3,  # a task, a call of `hear`, and another one
            max_restarts=0,  # the executor repeats tasks and counts attempts
            runtime_env=worker_environment(**ONE_THREAD),
        )
        self.actor = actor_class.remote()
        self.task: Task | None = None
        self.ready = False
        """Whether it has a core."""
        self.answer: Any = self.actor.hear.remote(0.0)

    def begin(self, task: Task) -> None:
        """Give the worker a task."""
        self.task = task
        self.actor.perform.remote(task.to_json())
        self.ask()

    def ask(self) -> None:
        """Request news, if the worker has a task."""
        self.answer = None if self.task is None else self.actor.hear.remote(HEAR_SECONDS)

    def stop(self) -> None:
        """Make the active run save a checkpoint and end."""
        self.actor.stop.remote()


@contextmanager
def _probe_in(folder: Path) -> Iterator[tuple[Path, str]]:
    """Write a file into the folder to probe; return its path and content."""
    content = uuid.uuid4().hex
    path = folder.absolute() / f".shared-{content}"
    try:
        path.write_text(content)
        yield path, content
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror or error}") from None
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _probe_at(url: str) -> Iterator[tuple[str, str]]:
    """The same for a URL that runs are uploaded to."""
    uploads, content = Uploads(url), uuid.uuid4().hex
    name = uploads.leave_probe(content)
    try:
        yield url, content
    finally:
        uploads.remove(name)


def _look_from(ray: Any, node: dict[str, Any], place: Path | str, content: str) -> str:
    """What is wrong with a probe, as a node sees it; a `UserError` if the node cannot run pcn."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    look = ray.remote(look_at).options(
        num_cpus=0,
        max_retries=0,
        runtime_env=worker_environment(),
        scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
    )
    try:
        there, wrong = ray.get(look.remote(place, content), timeout=PROBE_SECONDS)
    except (ray.exceptions.RayError, ImportError) as error:
        raise UserError(
            f"the Ray node {told_node(node)} cannot run pcn: {reason_of(error)}"
        ) from None
    if there != __version__:
        raise UserError(
            f"the Ray node {told_node(node)} has pcn {there}, this machine has {__version__}"
        )
    return str(wrong)
