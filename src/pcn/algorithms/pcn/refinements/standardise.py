"""Standardised observations: real inputs are shifted and scaled by what warm-up has seen."""

from dataclasses import dataclass

import equinox as eqx

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.training import Training
from pcn.nets.policy import ConditionedPolicy


@dataclass(frozen=True, kw_only=True)
class Standardise(AbstractRefinement):
    """Shift and scale real observations by the mean and deviation of the first episodes."""

    def prepared(self, policy: ConditionedPolicy, training: Training) -> ConditionedPolicy:
        """The policy whose embedding is fitted to the stored observations."""
        embedding = policy.embed_state.fitted(training.dataset.observations())
        return eqx.tree_at(lambda policy: policy.embed_state, policy, embedding)
