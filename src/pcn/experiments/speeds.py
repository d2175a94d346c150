"""How long runs take: measured in this experiment, or in earlier ones."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pcn.experiments.plan import PlannedRun
from pcn.runs.folder import RunFolder


class Speed(NamedTuple):
    """How fast a training is on one core."""

    steps_per_second: float
    """After compilation."""
    compiling: float
    """CPU seconds for compiling the programs that no other run has compiled."""


ORIGIN = "measured on one core of a busy machine with two, without a GPU"
"""Where the speeds below come from."""

_COMPILING = {"pcn": 16.0, "pcn-paper": 16.0, "mones": 8.0, "ra": 6.0}

_WALKROOM = {
    "pcn": (91e3, 112e3, 80e3, 51e3, 37e3, 29.5e3, 20.9e3, 14.2e3),
    "mones": (455e3, 273e3, 192e3, 128e3, 128e3, 128e3, 128e3, 128e3),
    "ra": (173e3, 300e3, 134e3, 60e3),
}
"""For two objectives and more. MONES beyond five was not measured at its full length, and has the
speed of five."""

# The preset `paper` was measured on Deep Sea Treasure; on Minecart it has the speed of `authors`,
# on Crossroad, where nearly all the time is the simulator's, that of `default`.
_STEPS_PER_SECOND = {
    "deep-sea-treasure": {"pcn": 67e3, "pcn-paper": 12e3, "mones": 209e3, "ra": 180e3},
    "minecart": {"pcn": 130e3, "pcn-paper": 110e3, "mones": 690e3, "ra": 270e3},
    "crossroad-authors": {"pcn": 850.0, "pcn-paper": 850.0, "mones": 860.0, "ra": 520.0},
}

MEASURED: Mapping[tuple[str, str], Speed] = {
    **{
        (group, label): Speed(speed, _COMPILING[label])
        for group, speeds in _STEPS_PER_SECOND.items()
        for label, speed in speeds.items()
    },
    **{
        (f"walkroom-{objectives}", label): Speed(speed, _COMPILING[label])
        for label, speeds in _WALKROOM.items()
        for objectives, speed in enumerate(speeds, start=2)
    },
}
"""By group and label, as in `docs/results`."""


class Speeds:
    """The speeds of an experiment's runs by group and label; its own measurements have priority."""

    def __init__(self, folder: Path, runs: Iterable[PlannedRun]) -> None:
        self._folder = folder
        self._here: dict[tuple[str, str], tuple[float, float]] = {}
        for run in runs:
            self.learn(run)

    def learn(self, run: PlannedRun) -> None:
        """Record the time of a finished run."""
        folder = RunFolder(self._folder / run.place)
        if not folder.finished:
            return
        metrics, _ = folder.read_metrics()
        steps, seconds = self._here.get((run.group, run.label), (0.0, 0.0))
        self._here[run.group, run.label] = steps + metrics["steps"], seconds + metrics["seconds"]

    def seconds(self, run: PlannedRun, total_steps: int, *, first: bool = False) -> float | None:
        """Seconds that a run will take on one core; None if no similar run is known.

        The `first` run of its group and label also compiles for the others.
        """
        key = run.group, run.label
        if key in self._here:
            steps, seconds = self._here[key]
            return total_steps * seconds / max(steps, 1.0)
        if key not in MEASURED:
            return None
        speed = MEASURED[key]
        return speed.compiling * first + total_steps / speed.steps_per_second

    @property
    def measured_here(self) -> bool:
        """Whether runs of this experiment have been measured."""
        return bool(self._here)
