"""The end of a training: which commands a run offers, and what each of them returns.

Where outcomes are stochastic, see `raced_ending.py`. In a deterministic environment every command
of the archive is offered; with consolidation a copy of the network is fitted first.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.contender import AbstractFitting
from pcn.algorithms.pcn.executing import Executing, notices_of_stopped
from pcn.algorithms.pcn.network import network_name
from pcn.algorithms.pcn.raced_ending import RacedEnding
from pcn.algorithms.pcn.refinements.consolidation import Consolidation
from pcn.algorithms.pcn.rows import Archive
from pcn.algorithms.pcn.training import Training
from pcn.coverage import CoverageSet
from pcn.nets.policy import ConditionedPolicy
from pcn.serialisation.arrays import named_arrays


class Ending:
    """One stage, or two: perhaps fit a copy of the network, then execute all commands once."""

    def __init__(self, training: Training) -> None:
        self._training = training
        self._rng_before = training.rng.bit_generator.state
        self._steps_before = training.steps
        self._archive = training.commands()
        fit = next((one for one in training.refinements if isinstance(one, Consolidation)), None)
        key = training.next_key()
        self._fitting: AbstractFitting | None = (
            None if fit is None else fit.contender(training, key)
        )
        self._executing: Executing | None = None if fit is not None else self._executed_with(key)

    def _executed_with(self, key: Any) -> Executing:
        return Executing(self._training, self.policy, self._archive, key=key)

    @property
    def done(self) -> bool:
        """Whether everything that is offered has been executed."""
        return self._executing is not None and self._executing.done

    @property
    def phase(self) -> str:
        """What is going on, for people."""
        return "consolidating" if self._executing is None else "executing"

    def iterate(self) -> None:
        """A little of the stage that is under way."""
        if self._fitting is not None and not self._fitting.done:
            self._fitting.iterate()
            return
        if self._executing is None:
            self._executing = self._executed_with(self._training.next_key())
        self._executing.iterate()
        if self.done:
            notices = notices_of_stopped(self._num_stopped, len(self._archive))
            self._training.notices.extend(notices)

    @property
    def _num_stopped(self) -> int:
        assert self._executing is not None, "the training is not done"
        return int((~self._executing.ended_mask).sum())

    @property
    def policy(self) -> ConditionedPolicy:
        """The network that executes the commands."""
        if self._fitting is not None:
            return self._fitting.contender.policy
        return self._training.learner.policy

    def coverage_set(self) -> CoverageSet:
        """The commands that the run offers and what each returned, once `done`.

        Those whose executions were stopped are left out. If all were, they are offered as not
        executed.
        """
        assert self._executing is not None, "the training is not done"
        ended = np.flatnonzero(self._executing.ended_mask)
        training, archive = self._training, self._archive
        if len(ended) == 0:
            return CoverageSet.unexecuted(
                archive.returns,
                archive.horizons.astype(np.float64),
                tolerances=training.dataset.tolerances,
                order=training.dataset.order,
                num_stopped=len(archive),
            )
        executed = coverage_set_of(
            Archive(archive.rows.taking(ended)), self._executing.execution.taking(ended), training
        )
        return replace(executed, num_stopped=self._num_stopped)

    def arrays(self) -> dict[str, np.ndarray]:
        """The network that executes the commands, and the bounds of desired returns."""
        return {
            **named_arrays(self.policy, network_name(0)),
            **self._training.bound_arrays(),
        }

    def facts(self) -> dict[str, Any]:
        """How much consolidation took, for `metrics.json`."""
        if self._fitting is None:
            return {}
        took = {"updates": self._fitting.num_updates, "steps": self._fitting.num_steps}
        return {self._fitting.name: took}

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""
        facts: dict[str, Any] = {
            "rng_before": self._rng_before,
            "steps_before": self._steps_before,
        }
        arrays: dict[str, np.ndarray] = {}
        if self._fitting is not None:
            arrays, facts["first"] = self._fitting.snapshot()
        if self._executing is not None:
            more, facts["second"] = self._executing.snapshot()
            arrays |= {f"second.{name}": array for name, array in more.items()}
        return {f"ending.{name}": array for name, array in arrays.items()}, facts

    @classmethod
    def restored(
        cls, training: Training, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]
    ) -> "Ending":
        """The ending as it was when the snapshot was taken; `training` has been restored."""
        now = training.rng.bit_generator.state
        steps_now = training.steps
        training.rng.bit_generator.state = facts["rng_before"]
        # Which commands there are depends on the steps that were left when the ending began.
        training.runner.steps = facts.get("steps_before", steps_now)
        ending = cls(training)
        own = {name.removeprefix("ending."): array for name, array in arrays.items()}
        if ending._fitting is not None:
            ending._fitting.restore(own, facts["first"])
        if "second" in facts:
            if ending._executing is None:
                ending._executing = ending._executed_with(training.next_key())
            second = {name.removeprefix("second."): array for name, array in own.items()}
            ending._executing.restore(second, facts["second"])
        training.runner.steps = steps_now
        training.rng.bit_generator.state = now
        return ending


def begun_ending(training: Training) -> Ending | RacedEnding:
    """The ending that fits the environment, about to begin."""
    return Ending(training) if training.spec.deterministic else RacedEnding(training)


def restored_ending(
    training: Training, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]
) -> Ending | RacedEnding:
    """The ending as it was when a snapshot was taken."""
    kind = Ending if training.spec.deterministic else RacedEnding
    return kind.restored(training, arrays, facts)


def coverage_set_of(archive: Archive, execution: Execution, training: Training) -> CoverageSet:
    """What was requested beside what was executed."""
    return CoverageSet.measured(
        archive.returns,
        archive.horizons.astype(np.float64),
        execution.singles,
        tolerances=training.dataset.tolerances,
        order=training.dataset.order,
    )
