"""Fitting the network of expected rewards, a few updates at a time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, UInt32

from pcn.algorithms.pcn.contender import AbstractFitting, Contender
from pcn.algorithms.pcn.dataset import command_extent
from pcn.algorithms.pcn.network import expectations_of, fresh_policy
from pcn.algorithms.pcn.refinements.expecting.episode_memory import EpisodeMemory, Steps
from pcn.algorithms.pcn.refinements.expecting.expected_labels import Labelled, ranked, steps_of
from pcn.algorithms.pcn.refinements.expecting.fitted_expectations import (
    expected_returns_to_go,
    foresee,
    learn,
)
from pcn.algorithms.pcn.rows import Archive, Rows
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.pcn.update import Learner, cosine_decay, update_on
from pcn.nets.policy import ConditionedPolicy
from pcn.serialisation.arrays import named_arrays, with_named_arrays

if TYPE_CHECKING:
    from pcn.algorithms.pcn.refinements.expected_rewards import ExpectedRewards

UPDATES_AT_ONCE = 64
"""Updates of one iteration."""


class Expectant(AbstractFitting):
    """A network that learns remembered episodes under labels of what their actions are worth.

    Expectations, labels and commands follow from the memory and the key, so a snapshot holds the
    network alone.
    """

    name = "expected_rewards"

    def __init__(
        self,
        settings: "ExpectedRewards",
        training: Training,
        memory: EpisodeMemory,
        key: UInt32[np.ndarray, " 2"],
        *,
        policy_updates: int,
    ) -> None:
        self._settings, self._training = settings, training
        self._policy_updates = policy_updates
        self._rng = np.random.default_rng(key)
        self.num_updates = self.num_steps = 0
        policy = fresh_policy(training.spec, training.config, key)
        for refinement in training.refinements:
            policy = refinement.prepared(policy, training)
        steps = memory.steps
        observations = memory.observations(steps)
        self._expectations = learn(
            expectations_of(policy, key, least_survival=settings.least_survival),
            steps,
            observations,
            self._rng,
            updates=settings.updates,
            batch_size=training.config.batch_size,
            learning_rate=training.config.learning_rate,
            held_out=settings.held_out,
            least_random=settings.least_random,
        )
        whole = np.flatnonzero(~steps.broken_off)
        self.matters = len(whole) > 0 and bool(
            np.any(self._expectations.random_rewards) or self._expectations.random_ends
        )
        """Whether anything is random, so that labels differ from what came."""
        if not self.matters:
            return
        unlabelled = Labelled.of(steps, observations, np.zeros(steps.rewards.shape))
        foreseen = foresee(
            self._expectations, unlabelled.observations, unlabelled.actions, steps.num_steps
        )
        labels = expected_returns_to_go(
            steps, foreseen, self._expectations, discount=training.config.discount
        )
        self._labelled = Labelled.of(steps, observations, labels)
        ranking = ranked(
            labels[steps.starts[whole]],
            capacity=settings.capacity,
            num_commands=min(settings.num_commands, len(training.commands())),
            most_copies=settings.copies,
            tolerance=settings.tolerance,
        )
        self.archive = _archive(labels, steps, whole[ranking.archive])
        """The non-dominated expected returns, as commands to explore from."""
        commands = whole[ranking.commands]
        self._desired: Float[np.ndarray, "command objective"] = labels[steps.starts[commands]]
        self._horizons = steps.lengths[commands].astype(np.float64)
        best, archive = (steps_of(steps, whole[one]) for one in (ranking.best, ranking.archive))
        size = training.config.batch_size
        num_archive = round(settings.archive_share * size)
        num_recent = round(settings.recent_share * size)
        self._groups = (
            (best, size - num_archive - num_recent),
            (archive, num_archive),
            (steps_of(steps, whole[-settings.recent :]), num_recent),
        )
        self._expectations = eqx.tree_at(
            lambda one: (one.lowest, one.highest),
            self._expectations,
            tuple(
                jnp.asarray(edge(labels[best], axis=0), jnp.float32) for edge in (np.min, np.max)
            ),
        )
        longest = np.max(self._labelled.horizons[archive])
        known = labels[archive]
        ranges = np.append(command_extent(known.min(axis=0), known.max(axis=0)), longest)
        scale = training.config.command_scale_for(ranges)
        policy = eqx.tree_at(
            lambda policy: policy.command_scale, policy, jnp.asarray(scale, jnp.float32)
        )
        self._learner = Learner.fresh(policy)

    @property
    def done(self) -> bool:
        """Whether the network has had all its updates."""
        return self.num_updates >= self._policy_updates

    def iterate(self) -> None:
        """Some updates."""
        settings = self._settings
        number = np.arange(self.num_updates, self.num_updates + UPDATES_AT_ONCE)
        phase = np.minimum(number / self._policy_updates, 1)
        rates = cosine_decay(
            self._training.config.learning_rate, settings.last_learning_rate, phase
        )
        self._learner, _ = update_on(
            self._learner,
            self._labelled.at,
            (self._draw(),),
            rates.astype(np.float32),
            np.asarray(settings.wrong_weight, np.float32),
        )
        self.num_updates += UPDATES_AT_ONCE

    def _draw(self) -> Int[np.ndarray, "update batch"]:
        parts = [
            group[self._rng.integers(len(group), size=(UPDATES_AT_ONCE, count))]
            for group, count in self._groups
        ]
        return np.concatenate(parts, axis=1).astype(np.int32)

    @property
    def policy(self) -> ConditionedPolicy:
        """The network, whose commands change by what it expects."""
        return self._learner.policy.expecting(self._expectations)

    @property
    def contender(self) -> Contender:
        """The network under the expected returns of the best episodes."""
        return Contender(self.policy, self._desired, self._horizons, follows_rewards=False)

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The network and how far it has come."""
        facts = {"num_updates": self.num_updates, "rng": self._rng.bit_generator.state}
        return named_arrays(self._learner, "expectant.learner"), facts

    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        """Go back to a snapshot."""
        self._learner = with_named_arrays(self._learner, arrays, "expectant.learner")
        self.num_updates = facts["num_updates"]
        self._rng.bit_generator.state = facts["rng"]


def _archive(
    labels: Float[np.ndarray, "step objective"],
    steps: Steps,
    episodes: Int[np.ndarray, " point"],
) -> Archive:
    """Remembered episodes as an archive; they lie in no slots."""
    firsts, lengths = steps.starts[episodes], steps.lengths[episodes]
    parts = [labels[first : first + length] for first, length in zip(firsts, lengths, strict=True)]
    return Archive(
        Rows(
            slots=np.full(len(episodes), -1, np.int32),
            lengths=lengths,
            returns=labels[firsts],
            lowest=np.array([part.min(axis=0) for part in parts]),
            highest=np.array([part.max(axis=0) for part in parts]),
        )
    )
