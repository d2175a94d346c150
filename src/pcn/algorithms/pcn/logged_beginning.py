"""The beginning of a training on logged episodes: they fill the dataset and are learned first."""

from dataclasses import dataclass

from pcn.algorithms.pcn.fitting import fit
from pcn.algorithms.pcn.schedule import MOST_EPISODES
from pcn.algorithms.pcn.training import Training
from pcn.datasets.use import LoggedData

UPDATES_AT_A_TIME = 512
"""Updates on logged episodes between two checkpoints, where one is due."""


@dataclass
class LoggedBeginning:
    """Logged episodes instead of random ones, and the updates on them before all others."""

    data: LoggedData
    updates_left: int

    def fill(self, training: Training) -> None:
        """Put the logged episodes into the dataset, as they are."""
        episodes = self.data.read().fitting(training.spec)
        for batch in episodes.batches(MOST_EPISODES):
            training.dataset.add(batch)
            for refinement in training.refinements:
                refinement.after_running(training, batch)
        training.schedule.measure(episodes.num_steps / len(episodes))

    def learn(self, training: Training) -> float:
        """Make a part of the updates; returns the mean loss."""
        num_updates = min(self.updates_left, UPDATES_AT_A_TIME)
        self.updates_left -= num_updates
        return fit(training, num_updates)
