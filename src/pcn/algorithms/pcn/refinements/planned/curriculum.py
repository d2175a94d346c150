"""Curriculum: what a network is to learn about the plans of a model."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from pcn.algorithms.pcn.core_config import CoreConfig
from pcn.algorithms.pcn.refinements.planned.lessons import Lessons, greedy_actions, lessons_of
from pcn.algorithms.pcn.training import Training
from pcn.nets.policy import ConditionedPolicy
from pcn.planning.clocks import last_states, pooled_over_time
from pcn.planning.counting import TransitionCounts
from pcn.planning.estimation import estimated_model
from pcn.planning.evaluation import expected_returns

if TYPE_CHECKING:
    from pcn.algorithms.pcn.refinements.planned.abstract import AbstractPlanning
    from pcn.algorithms.pcn.refinements.planning import Planning


class AbstractCurriculum(ABC):
    """Plans of a model, and what they do as lessons for a network."""

    lessons: Lessons
    weights: Float[np.ndarray, " lesson"]
    """How often each lesson is taught."""
    vectors: Float[np.ndarray, "plan objective"]
    """What each plan returns in the model; it is the command under which it is learnt."""
    steps: Float[np.ndarray, " plan"]
    """How many steps it takes."""
    slack: float = 0.0
    """Differences up to this share of an objective's range may be chance in the model."""

    def __init__(self, settings: "AbstractPlanning", training: Training) -> None:
        self._training, self._least_extent = training, settings.least_extent

    @abstractmethod
    def expected(self, policy: ConditionedPolicy) -> Float[np.ndarray, "plan objective"]:
        """What a network returns on average in the model, for each plan's command."""

    def scaled(self, policy: ConditionedPolicy) -> ConditionedPolicy:
        """A fresh network with a scale that fits the commands, around their middle."""
        return scaled_for(
            policy,
            self.vectors,
            float(self.lessons.first_horizon),
            config=self._training.config,
            least_extent=self._least_extent,
        )


def scaled_for(
    policy: ConditionedPolicy,
    desired_returns: Float[np.ndarray, "plan objective"],
    horizon: float,
    *,
    config: CoreConfig,
    least_extent: float,
) -> ConditionedPolicy:
    """A fresh network with a scale that fits some commands, around their middle."""
    highest, lowest = desired_returns.max(axis=0), desired_returns.min(axis=0)
    size = np.abs(desired_returns).max(axis=0)
    # A narrow range far from zero would give inputs that no network learns from.
    extent = np.maximum(highest - lowest, least_extent * size)
    scale = config.command_scale_for(np.append(extent, horizon))
    middle = np.append((highest + lowest) / 2, horizon / 2)
    layer, centred = policy.embed_command, config.command_scale is None
    assert layer.bias is not None
    offset = layer.weight @ jnp.asarray(scale * middle, jnp.float32)
    bias = layer.bias - offset if centred else layer.bias
    return eqx.tree_at(
        lambda policy: (policy.command_scale, policy.embed_command.bias),
        policy,
        (jnp.asarray(scale, jnp.float32), bias),
    )


class CountedCurriculum(AbstractCurriculum):
    """Plans of counted transitions."""

    def __init__(self, settings: "Planning", training: Training, counts: TransitionCounts) -> None:
        super().__init__(settings, training)
        self._settings = settings
        self._counts = counts
        # Nothing is known to be worse than the worst that was ever seen from any step on.
        self.unknown = training.dataset.rows.lowest.min(axis=0)
        """What is assumed where the counts know nothing."""
        numbers = counts.numbers()
        self.model = estimated_model(
            pooled_over_time(counts),
            discount=training.config.discount,
            least_visits=settings.least_visits,
            errors=settings.errors,
            unknown=self.unknown,
            over=last_states(counts),
            numbers=numbers if numbers.shape[1] <= settings.similar_numbers else None,
        )
        self.plans = settings.plans(self.model, counts.longest, training)
        # Long episodes in many states would be more lessons than anybody can learn.
        self._most_places = max(4 * len(self.plans), settings.most_lessons // counts.longest)
        self.lessons, chances = lessons_of(
            self.plans,
            counts,
            training.learner.policy.action_head,
            least_probability=settings.least_probability,
            most_places=self._most_places,
        )
        self.weights = np.sqrt(chances)
        self.vectors, self.steps = self.plans.vectors, self.plans.steps

    def expected(self, policy: ConditionedPolicy) -> Float[np.ndarray, "plan objective"]:
        """What a network returns on average in the model, for each plan's command."""
        sizes = self._counts.action_sizes

        def act(
            plans: Int[np.ndarray, " place"], states: Int[np.ndarray, " place"], time: int
        ) -> Int[np.ndarray, " place"]:
            rows = greedy_actions(policy, self.lessons, plans, states, time)
            options = policy.action_head.to_options(rows)
            return np.ravel_multi_index(tuple(options.T), sizes)

        return expected_returns(
            self.model,
            act,
            len(self.plans),
            discount=self._training.config.discount,
            horizon=self._counts.longest,
            unknown=self.unknown,
            least=self._settings.least_probability,
            most_places=self._most_places,
        )
