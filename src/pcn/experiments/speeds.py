"""How long runs take: measured in the same experiment, or else as it was measured before."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pcn.experiments.plan import PlannedRun
from pcn.runs.folder import RunFolder
from pcn.serialisation.files import read_json


class Speed(NamedTuple):
    """How fast a training is on one core."""

    steps_per_second: float
    first_seconds: float = 0.0
    """What every run takes besides, such as compiling for a room of its own."""

    def seconds(self, steps: int) -> float:
        """How long so many steps take."""
        return self.first_seconds + steps / self.steps_per_second


ORIGIN = "measured on one core of a busy machine with two, an AMD64 server without a GPU"
"""Where the speeds below come from."""

_ROOM = {"pcn": 14.0, "mones": 7.0, "ra": 4.0}
"""CPU seconds in which the programs for one room are compiled."""
_WALKROOM = {
    "pcn": (91e3, 112e3, 80e3, 51e3, 37e3, 29.5e3, 20.9e3, 14.2e3),
    "mones": (455e3, 273e3, 192e3, 128e3, 90e3, 70e3, 50e3, 40e3),
    "ra": (173e3, 300e3, 134e3, 60e3),
}
"""Steps per CPU second for two objectives and more."""

MEASURED: Mapping[tuple[str, str], Speed] = {
    ("deep-sea-treasure", "pcn"): Speed(67e3),
    ("deep-sea-treasure", "pcn-paper"): Speed(12e3),
    ("deep-sea-treasure", "mones"): Speed(209e3),
    ("deep-sea-treasure", "ra"): Speed(180e3),
    ("minecart", "pcn"): Speed(130e3),
    ("minecart", "pcn-paper"): Speed(110e3),
    ("minecart", "mones"): Speed(690e3),
    ("minecart", "ra"): Speed(270e3),
    ("crossroad-authors", "pcn"): Speed(850),
    ("crossroad-authors", "pcn-paper"): Speed(850),
    ("crossroad-authors", "mones"): Speed(860),
    ("crossroad-authors", "ra"): Speed(520),
    **{
        (f"walkroom-{objectives}", algorithm): Speed(speed, _ROOM[algorithm])
        for algorithm, speeds in _WALKROOM.items()
        for objectives, speed in enumerate(speeds, start=2)
    },
}
"""By group and label: steps per CPU second after compilation, as in `docs/results`."""


class Speeds:
    """The speeds of an experiment's runs by group and label; those it has measured win."""

    def __init__(self, folder: Path, runs: Iterable[PlannedRun]) -> None:
        self._here: dict[tuple[str, str], tuple[float, float]] = {}
        for run in runs:
            if RunFolder(folder / run.place).finished:
                metrics = read_json(folder / run.place / "metrics.json")
                self.learn(run, metrics["steps"], metrics["seconds"])

    def learn(self, run: PlannedRun, steps: float, seconds: float) -> None:
        """Take in how long a run has taken."""
        known_steps, known_seconds = self._here.get((run.group, run.label), (0.0, 0.0))
        self._here[run.group, run.label] = known_steps + steps, known_seconds + seconds

    def seconds(self, run: PlannedRun, total_steps: int) -> float | None:
        """How long a run is going to take on one core; None if nothing is known of its like."""
        key = run.group, run.label
        if key in self._here:
            steps, seconds = self._here[key]
            return total_steps * seconds / max(steps, 1.0)
        return MEASURED[key].seconds(total_steps) if key in MEASURED else None

    @property
    def measured_here(self) -> bool:
        """Whether runs of this experiment have been measured."""
        return bool(self._here)
