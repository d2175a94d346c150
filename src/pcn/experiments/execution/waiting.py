"""The tasks that wait for a process, and how often each has lost one."""

import dataclasses
from collections import Counter, deque
from collections.abc import Sequence

from pcn.experiments.execution.task import Began, Ended, Task, Tell


class WaitingTasks:
    """Tasks in their order; one whose process is lost comes back to the front.

    Args:
        tasks: What is to be carried out.
        tell: Hears how tasks begin and are lost.
        lost_attempts: How often the process of a task may be lost before the task has failed.
    """

    def __init__(self, tasks: Sequence[Task], tell: Tell, *, lost_attempts: int) -> None:
        self._tasks = deque(tasks)
        self._tell = tell
        self._lost_attempts = lost_attempts
        self._num_lost: Counter[str] = Counter()
        self.stopped = False

    def __len__(self) -> int:
        return len(self._tasks)

    def begin_next(self) -> Task:
        """Take the next task and report that it begins."""
        task = self._tasks.popleft()
        self._tell(Began(task.name))
        return task

    def stop(self) -> None:
        """Begin no further tasks, including those that are lost from now on."""
        self.stopped = True
        self._tasks.clear()

    def lose(self, task: Task, how: str) -> None:
        """Take back a task whose process is lost; `how` describes the loss."""
        self._num_lost[task.name] += 1
        if self.stopped:
            self._tell(Ended(task.name, "stopped", how))
        elif self._num_lost[task.name] >= self._lost_attempts:
            self._tell(Ended(task.name, "failed", how))
        else:
            self._tell(Ended(task.name, "lost", how))
            self._tasks.appendleft(dataclasses.replace(task, take_over=True))
