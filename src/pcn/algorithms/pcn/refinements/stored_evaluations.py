"""Stored evaluations: episodes executed in evaluations join the dataset."""

from dataclasses import dataclass

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.training import Training
from pcn.episodes import Episodes


@dataclass(frozen=True, kw_only=True)
class StoredEvaluations(AbstractRefinement):
    """Let executed episodes join the dataset: greedy execution sometimes beats the archive."""

    def after_executing(self, training: Training, episodes: Episodes) -> None:
        """Store the batch."""
        training.dataset.add(episodes)
