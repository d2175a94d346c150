"""The end of a training without an environment: what the data support, NOT EXECUTED.

A copy of the network is fitted to the archive's episodes, if consolidation is on. A deterministic
environment repeats an episode whose actions are all predicted, so how many are says how far the
policies can be trusted; but nothing was run.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pcn.algorithms.pcn.contender import AbstractFitting
from pcn.algorithms.pcn.network import network_name
from pcn.algorithms.pcn.refinements.consolidation import Consolidation
from pcn.algorithms.pcn.refinements.practice import Practice
from pcn.algorithms.pcn.training import Training
from pcn.coverage import CoverageSet
from pcn.nets.policy import ConditionedPolicy
from pcn.serialisation.arrays import named_arrays


class DataEnding:
    """One stage: perhaps fit a copy of the network to the archive's episodes."""

    phase = "fitting"

    def __init__(self, training: Training) -> None:
        self._training = training
        self._rng_before = training.rng.bit_generator.state
        self._archive = training.dataset.archive()
        fit = next((one for one in training.refinements if isinstance(one, Consolidation)), None)
        key = training.next_key()
        self._fitting: AbstractFitting | None = (
            None if fit is None else fit.contender(training, key)
        )

    @property
    def done(self) -> bool:
        """Whether nothing is left to fit."""
        return self._fitting is None or self._fitting.done

    def iterate(self) -> None:
        """Fit a little further."""
        if self._fitting is not None and not self._fitting.done:
            self._fitting.iterate()

    @property
    def policy(self) -> ConditionedPolicy:
        """The network that is offered."""
        if self._fitting is not None:
            return self._fitting.contender.policy
        return self._training.learner.policy

    def coverage_set(self) -> CoverageSet:
        """The non-dominated returns of the data, marked as not executed."""
        return CoverageSet.unexecuted(
            self._archive.returns,
            self._archive.horizons.astype(np.float64),
            tolerances=self._training.dataset.tolerances,
            order=self._training.dataset.order,
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """The network and the bounds of desired returns."""
        return {
            **named_arrays(self.policy, network_name(0)),
            **self._training.bound_arrays(),
        }

    def facts(self) -> dict[str, Any]:
        """How many of the archive's episodes the network predicts, for `metrics.json`."""
        practice = Practice(self._archive.rows, uncertain_share=0.0, least_uncertainty=1e-6)
        predicted = practice.test(self.policy, self._training.dataset.store)
        facts: dict[str, Any] = {
            "predicted": {"episodes": int(predicted.sum()), "of": len(predicted)}
        }
        if self._fitting is not None:
            facts[self._fitting.name] = {"updates": self._fitting.num_updates, "steps": 0}
        return facts

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""
        facts: dict[str, Any] = {"rng_before": self._rng_before}
        arrays: dict[str, np.ndarray] = {}
        if self._fitting is not None:
            arrays, facts["first"] = self._fitting.snapshot()
        return {f"ending.{name}": array for name, array in arrays.items()}, facts

    @classmethod
    def restored(
        cls, training: Training, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]
    ) -> "DataEnding":
        """The ending as it was when the snapshot was taken; `training` has been restored."""
        now = training.rng.bit_generator.state
        training.rng.bit_generator.state = facts["rng_before"]
        ending = cls(training)
        if ending._fitting is not None:
            own = {name.removeprefix("ending."): array for name, array in arrays.items()}
            ending._fitting.restore(own, facts["first"])
        training.rng.bit_generator.state = now
        return ending
