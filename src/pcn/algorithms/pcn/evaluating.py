"""Evaluations during training: the archive's commands are executed, to tell how it goes."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.ending import coverage_set_of
from pcn.algorithms.pcn.refinements.consolidation import Consolidation
from pcn.algorithms.pcn.rows import Archive
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.trainer import evaluation_due
from pcn.coverage import CoverageSet
from pcn.episodes import Episodes

PATIENCE = 4
"""An evaluation gives a command up after this many times its horizon."""


class Evaluations:
    """When the archive is executed during a training, and what that took so far."""

    def __init__(self, training: Training) -> None:
        self._training = training
        self.num_steps = 0
        """Environment steps of all evaluations."""

    def due(self, steps_before: int) -> bool:
        """Whether the iteration that began after `steps_before` steps should end with one."""
        training, config = self._training, self._training.config
        due = evaluation_due(
            steps_before,
            training.steps,
            total_steps=config.total_steps,
            evaluations=config.evaluations,
        )
        # A front of thousands of policies would spend the budget on evaluations.
        cost = int(training.dataset.archive().horizons.sum())
        allowed = self.num_steps + cost <= config.evaluation_share * training.steps
        most = int(self._limits().sum())
        return due and allowed and most <= training.exploring_steps_left

    def _limits(self) -> Int[np.ndarray, " command"]:
        """After how many steps each command is given up."""
        horizons = self._training.dataset.archive().horizons
        limits = np.minimum(PATIENCE * horizons + 1, self._training.spec.step_limit)
        return limits.astype(np.int64)

    def execute(self) -> CoverageSet | None:
        """Execute the archive's commands greedily.

        Commands that are stuck are left out, and counted as stopped; None if all are.
        """
        training, archive = self._training, self._training.dataset.archive()
        steps_before = training.steps
        ended: list[np.ndarray] = []

        def batches() -> Iterator[Episodes]:
            for episodes in training.actor.execute(
                training.learner.policy,
                archive.returns,
                archive.horizons.astype(np.float64),
                key=training.next_key(),
                upper_bound=training.upper_bound(),
                lower_bound=training.lower_bound(),
                most_steps=self._limits(),
            ):
                ended.append(episodes.ended[np.asarray(episodes.real_mask)])
                for refinement in training.refinements:
                    refinement.after_executing(training, episodes)
                yield episodes

        execution = Execution.of(batches(), executions=1, discount=training.config.discount)
        self.num_steps += training.steps - steps_before
        kept = np.flatnonzero(np.concatenate(ended))
        num_stuck = len(archive) - len(kept)
        if not any(isinstance(one, Consolidation) for one in training.refinements):
            training.schedule.num_stuck = num_stuck
        if len(kept) == 0:
            return None
        ended_ones = Archive(archive.rows.taking(kept))
        coverage_set = coverage_set_of(ended_ones, execution.taking(kept), training)
        return replace(coverage_set, num_stopped=num_stuck)
