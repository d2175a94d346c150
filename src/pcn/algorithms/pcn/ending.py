"""The end of a training: which commands a run offers, and what each of them returns.

The core executes every command of the archive. Two refinements change that: consolidation first
fits a copy of the network, and expected returns choose among more commands where outcomes are
stochastic. Whatever was chosen by its executions is executed afresh.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Int

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.dataset import Archive
from pcn.algorithms.pcn.executing import Executing
from pcn.algorithms.pcn.refinements.consolidation import Consolidating, Consolidation
from pcn.algorithms.pcn.refinements.expected_returns import ExpectedReturns
from pcn.algorithms.pcn.training import Training
from pcn.coverage import CoverageSet
from pcn.nets.policy import ConditionedPolicy


class Ending:
    """One stage, or two: fit and execute all commands, then execute the chosen ones afresh."""

    def __init__(self, training: Training) -> None:
        self._training = training
        self._rng_before = training.rng.bit_generator.state
        self._choice = _find(training, ExpectedReturns)
        fit = _find(training, Consolidation)
        deterministic = training.spec.deterministic
        self._archive = training.commands()
        if self._choice is not None:
            executions = self._choice.num_checks(training)
        else:
            executions = 1 if deterministic else training.config.executions
        key = training.next_key()
        policy = training.learner.policy
        self.first: Consolidating | Executing = (
            Executing(training, policy, self._archive, executions=executions, key=key)
            if fit is None
            else fit.contender(training, key)
        )
        self._executes_afresh = fit is not None or self._choice is not None
        self._kept: Int[np.ndarray, " kept"] = np.arange(len(self._archive))
        self.second: Executing | None = None

    @property
    def done(self) -> bool:
        """Whether everything that is offered has been executed."""
        if not self._executes_afresh:
            return self.first.done
        return self.second is not None and self.second.done

    @property
    def phase(self) -> str:
        """What is going on, for people."""
        fitting = isinstance(self.first, Consolidating) and self.second is None
        return "consolidating" if fitting else "executing"

    def iterate(self) -> None:
        """A little of the stage that is under way."""
        if not self.first.done:
            self.first.iterate()
            return
        if self.second is None:
            if self._choice is not None and isinstance(self.first, Executing):
                self._kept = self._choice.chosen(
                    self._archive, self._first_execution(), self._training
                )
            self._begin_second()
        assert self.second is not None
        self.second.iterate()

    def _first_execution(self) -> Execution:
        assert isinstance(self.first, Executing)
        return self.first.execution

    def _begin_second(self) -> None:
        self.second = Executing(
            self._training,
            self.policy,
            self._offered(),
            executions=1 if self._training.spec.deterministic else self._training.config.executions,
            key=self._training.next_key(),
        )

    def _offered(self) -> Archive:
        return Archive(self._archive.rows.taking(self._kept))

    @property
    def policy(self) -> ConditionedPolicy:
        """The network that executes the commands."""
        if isinstance(self.first, Consolidating):
            return self.first.policy
        return self._training.learner.policy

    def coverage_set(self) -> CoverageSet:
        """The commands that the run offers and what each returned, once `done`."""
        if self.second is None:
            return coverage_set_of(self._archive, self._first_execution(), self._training)
        return coverage_set_of(self._offered(), self.second.execution, self._training)

    def facts(self) -> dict[str, Any]:
        """How much consolidation took, for `metrics.json`."""
        if not isinstance(self.first, Consolidating):
            return {}
        return {"consolidation": {"updates": self.first.num_updates, "steps": self.first.num_steps}}

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""
        arrays, first = self.first.snapshot()
        facts: dict[str, Any] = {"rng_before": self._rng_before, "first": first}
        if self.second is not None:
            more, facts["second"] = self.second.snapshot()
            # The stages' names of arrays may be the same.
            arrays |= {f"second.{name}": array for name, array in more.items()}
            arrays["kept"] = self._kept
        return {f"ending.{name}": array for name, array in arrays.items()}, facts

    @classmethod
    def restored(
        cls, training: Training, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]
    ) -> "Ending":
        """The ending as it was when the snapshot was taken; `training` has been restored."""
        now = training.rng.bit_generator.state
        training.rng.bit_generator.state = facts["rng_before"]
        ending = cls(training)
        own = {name.removeprefix("ending."): array for name, array in arrays.items()}
        ending.first.restore(own, facts["first"])
        if "second" in facts:
            ending._kept = np.array(own["kept"])
            ending._begin_second()
            assert ending.second is not None
            second = {name.removeprefix("second."): array for name, array in own.items()}
            ending.second.restore(second, facts["second"])
        training.rng.bit_generator.state = now
        return ending


def _find(training: Training, kind: type[Any]) -> Any:
    return next((one for one in training.refinements if isinstance(one, kind)), None)


def coverage_set_of(archive: Archive, execution: Execution, training: Training) -> CoverageSet:
    """What was requested beside what was executed."""
    return CoverageSet(
        requested=archive.returns,
        horizons=archive.horizons.astype(np.float64),
        executed=execution.returns,
        deviation=execution.deviation,
        tolerances=training.dataset.tolerances,
    )
