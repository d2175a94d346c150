"""The state of an experiment: active, finished and failed runs, and the time left."""

import time
from dataclasses import dataclass, field

from pcn.experiments.execution.task import Began, Ended, Moved, TaskEvent
from pcn.experiments.plan import PlannedRun
from pcn.experiments.preparation import Preparation
from pcn.experiments.speeds import Speeds


@dataclass
class Underway:
    """A run that is being carried out."""

    share: float = 0.0
    """The share of its steps that it has taken."""
    phase: str = "starting"
    since: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long this attempt has taken."""
        return time.monotonic() - self.since


class Overview:
    """Follows the events of an execution; call it with each of them."""

    def __init__(self, preparation: Preparation, runs: tuple[PlannedRun, ...], jobs: int) -> None:
        done = {run.place for run in preparation.finished}
        self._speeds = Speeds(preparation.folder, preparation.plan.runs)
        self._steps = {run.place.as_posix(): preparation.steps_of(run) for run in runs}
        self._runs = {run.place.as_posix(): run for run in runs}
        self._jobs = jobs
        self.total = len(runs)
        self.done = [run.place.as_posix() for run in runs if run.place in done]
        self.failed: list[str] = []
        self.underway: dict[str, Underway] = {}

    def __call__(self, event: TaskEvent) -> None:
        """Update the state with an event."""
        if isinstance(event, Began):
            self.underway[event.name] = Underway()
        elif isinstance(event, Moved):
            run = self.underway[event.name]
            run.share = min(event.steps / max(event.total_steps, 1), 1.0)
            run.phase = event.phase
        else:
            self._end(event)

    def _end(self, event: Ended) -> None:
        self.underway.pop(event.name, None)
        if event.ending == "done":
            self.done.append(event.name)
            self._speeds.learn(self._runs[event.name])
        elif event.ending == "failed":
            self.failed.append(event.name)

    @property
    def waiting(self) -> int:
        """How many runs have not been begun."""
        return self.total - len(self.done) - len(self.failed) - len(self.underway)

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the rest takes, by known speeds; None if the speed of some run is
        unknown."""
        left, longest = 0.0, 0.0
        ended, compiled = {*self.done, *self.failed}, set[tuple[str, str]]()
        for name, run in self._runs.items():
            if name in ended:
                continue
            key = run.group, run.label
            seconds = self._speeds.seconds(run, self._steps[name], first=key not in compiled)
            compiled.add(key)
            if seconds is None:
                return None
            if name in self.underway:
                seconds *= 1 - self.underway[name].share
            left, longest = left + seconds, max(longest, seconds)
        return max(left / self._jobs, longest)


def duration(seconds: float | None) -> str:
    """A time in words, as precise as an estimate allows.

    >>> duration(42), duration(700), duration(9000), duration(None)
    ('42 s', '12 min', '2.5 h', 'unknown')
    """
    if seconds is None:
        return "unknown"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3600:.1f} h"
