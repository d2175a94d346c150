"""Standardised observations: real inputs are shifted and scaled by what the dataset holds.

Random episodes may never leave the beginning of a corridor. What lies behind it would then be
hundreds of deviations away from all that the network was scaled for, and could not be learnt.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.pcn.update import Learner
from pcn.checks import at_least
from pcn.nets.embeddings import AbstractStateEmbedding, VectorEmbedding
from pcn.nets.policy import ConditionedPolicy

LOOKS = 40
"""How often in a training it is looked whether observations have changed."""


class Looked(AbstractState):
    """How often it was looked whether observations have changed."""

    def __init__(self) -> None:
        self.looks = 0

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The number."""
        return {"looks": np.array(self.looks)}

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.looks = int(arrays["looks"])


@dataclass(frozen=True, kw_only=True)
class Standardise(AbstractRefinement):
    """Shift and scale real observations by the mean and deviation of the first episodes.

    Where the stored episodes come to differ much from these, theirs are taken instead.
    """

    change: float = 4.0
    """A deviation that has changed by this factor, or a mean by so many deviations, is too much."""

    def __post_init__(self) -> None:
        at_least(self, 1, "change")

    def fresh_state(self, training: Training) -> Looked:
        """Nothing has been looked at."""
        del training
        return Looked()

    def prepared(self, policy: ConditionedPolicy, training: Training) -> ConditionedPolicy:
        """The policy whose embedding is fitted to the stored observations."""
        embedding = policy.embed_state.fitted(training.dataset.observations())
        return eqx.tree_at(lambda policy: policy.embed_state, policy, embedding)

    def after_exploring(self, training: Training) -> None:
        """Now and then, fit the embedding again if stored observations have changed too much."""
        state, policy = self.state_in(training, Looked), training.learner.policy
        looks = LOOKS * training.steps // training.config.total_steps
        if looks <= state.looks or not _vectors(policy.embed_state):
            return
        state.looks = looks
        fitted = self.prepared(policy, training)
        if self.differs(policy.embed_state, fitted.embed_state):
            training.learner = Learner.fresh(fitted)

    def differs(self, before: AbstractStateEmbedding, after: AbstractStateEmbedding) -> bool:
        """Whether the second embedding is scaled for other observations than the first one."""
        for old, new in zip(_vectors(before), _vectors(after), strict=True):
            ratio = np.asarray(new.deviation) / np.asarray(old.deviation)
            shift = np.abs(np.asarray(new.mean) - np.asarray(old.mean)) / np.asarray(old.deviation)
            if np.any(np.maximum(ratio, 1 / ratio) > self.change) or np.any(shift > self.change):
                return True
        return False


def _vectors(embedding: AbstractStateEmbedding) -> list[VectorEmbedding]:
    """The parts of an embedding that standardise."""
    parts = jax.tree.leaves(embedding, is_leaf=lambda part: isinstance(part, VectorEmbedding))
    return [part for part in parts if isinstance(part, VectorEmbedding)]
