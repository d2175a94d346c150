"""Following: a fresh network learns to do, under commands, what is worth most for some weights."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, UInt32

from pcn.algorithms.pcn.contender import AbstractFitting, Contender
from pcn.algorithms.pcn.network import fresh_policy
from pcn.algorithms.pcn.refinements.planned.curriculum import scaled_for
from pcn.algorithms.pcn.refinements.planned.distilling import study
from pcn.algorithms.pcn.refinements.planned.lessons import Lessons, padded, room_for, uncertainty
from pcn.algorithms.pcn.refinements.valued.settings import FollowingSettings
from pcn.algorithms.pcn.refinements.valued.value_learning import (
    expected_of_plans,
    parts_of,
    utilities_of,
    values_of,
)
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.pcn.update import Learner, cosine_decay
from pcn.envs.observations import from_flat, num_parts
from pcn.nets.value_network import ValueNetwork
from pcn.pareto import spread_out
from pcn.planning.seen_steps import Steps, observed
from pcn.planning.weighted_planning import spread_weights
from pcn.serialisation.arrays import named_arrays, with_named_arrays

TYPICAL = 0.9
"""As many of the later episodes are no longer than the horizon of all commands."""
MOST_STARTS = 256
"""Beginnings of episodes over which the value of a plan is averaged."""


class Following(AbstractFitting):
    """A plan is the greedy policy of some weights, its command what the values expect of it.

    Lessons are states of the training, and states that the network itself gets to while it learns
    (Ross et al., "A reduction of imitation learning and structured prediction to no-regret online
    learning", 2011, arXiv:1011.0686). Plans and the lessons of the training follow from what the
    values remember and from the key, so that a snapshot holds the network and its own states.
    """

    name = "weighted_values"

    def __init__(
        self,
        settings: FollowingSettings,
        training: Training,
        values: ValueNetwork,
        steps: Steps,
        weights: Float[np.ndarray, "weight objective"],
        key: UInt32[np.ndarray, " 2"],
    ) -> None:
        self._settings, self._training = settings, training
        self._values, self._steps = values, steps
        lengths = np.diff(np.append(np.flatnonzero(self._steps.first), len(self._steps)))
        self._horizon = int(np.ceil(np.quantile(lengths[len(lengths) // 2 :], TYPICAL)))
        self._rng = np.random.default_rng(key)
        evenly = spread_weights(training.spec.num_objectives, settings.plans - len(weights))
        self._weights = np.concatenate([evenly, weights])
        self.vectors = self._expected()
        """What the values expect of each plan; it is the command under which it is learnt."""
        policy = fresh_policy(training.spec, training.config, key)
        for refinement in training.refinements:
            policy = refinement.prepared(policy, training)
        policy = scaled_for(
            policy,
            self.vectors,
            float(self._horizon),
            config=training.config,
            least_extent=settings.least_extent,
        )
        self._learner = Learner.fresh(policy)
        self._observations, self._plans, self._times = self._remembered()
        self._num_remembered = len(self._plans)
        self._ready: Lessons | None = None
        self._num_practices = 0
        self.num_updates = 0
        self.num_steps = 0

    @property
    def done(self) -> bool:
        """Whether all updates were made."""
        return self.num_updates >= self._settings.teaching_updates

    def _expected(self) -> Float[np.ndarray, "plan objective"]:
        """What the values expect of each plan where episodes begin."""
        starts = self._steps.observations[self._steps.first]
        if len(starts) > MOST_STARTS:
            starts = self._rng.permutation(starts)[:MOST_STARTS]
        return expected_of_plans(self._values, starts, self._weights)

    def _remembered(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States of the training with the time they were met at, each under a random plan."""
        steps, count = self._steps, min(self._settings.most_lessons, len(self._steps))
        begin = np.maximum.accumulate(np.where(steps.first, np.arange(len(steps)), 0))
        times = np.arange(len(steps)) - begin
        index = np.sort(self._rng.choice(len(steps), count, replace=False))
        plans = self._rng.integers(len(self._weights), size=count)
        return steps.observations[index], plans.astype(np.int32), times[index].astype(np.int32)

    def _lessons(self) -> Lessons:
        """What each plan does in its states, and how good all other options are there."""
        head = self._training.learner.policy.action_head
        weights = self._weights[self._plans]
        of_options = values_of(self._values, self._observations, weights)
        utilities = utilities_of(self._values, of_options, self._observations, weights)
        parts = parts_of(self._values, utilities)
        best = np.stack([part.max(axis=1) for part in parts], axis=1)
        low, high = np.quantile(best.sum(axis=1), (0.05, 0.95))
        worse = np.concatenate([part.max(axis=1, keepdims=True) - part for part in parts], axis=1)
        worse = worse / max(high - low, 1e-12)
        size = room_for(len(best))
        spec = self._training.spec
        numbers, masks = np.split(self._observations, [num_parts(spec)], axis=1)
        observations = from_flat(spec.observation_space, numbers)
        options = np.stack([part.argmax(axis=1) for part in parts], axis=1).astype(np.int32)
        return Lessons(
            observations=jax.tree.map(lambda leaf: padded(leaf, size), observations),
            action_masks=padded(masks > 0, size) if spec.masked_actions else None,
            desired_returns=padded(self.vectors.astype(np.float32), room_for(len(self.vectors))),
            first_horizon=np.asarray(self._horizon, np.float32),
            states=padded(np.arange(len(best), dtype=np.int32), size),
            plans=padded(self._plans, size),
            times=padded(self._times, size),
            actions=padded(head.from_options(options), size),
            goodness=padded(np.exp(-worse / self._settings.nearly).astype(np.float16), size),
        )

    def iterate(self) -> None:
        """Learn a little; now and then act, and take what was met as further lessons."""
        settings, config = self._settings, self._training.config
        if self._ready is None:
            self._ready = self._lessons()
        part = settings.teaching_updates / (settings.practices + 1)
        if self.num_updates >= (self._num_practices + 1) * part:
            self._practise()
            self._ready = self._lessons()
            return
        count = min(settings.teaching_round, settings.teaching_updates - self.num_updates)
        weights = np.ones(len(self._plans))
        weights[self._num_remembered :] = settings.own_weight
        progress = (self.num_updates + np.arange(count)) / settings.teaching_updates
        self._learner = study(
            self._learner,
            self._ready,
            weights,
            uncertainty(self._learner.policy, self._ready, len(weights)),
            cosine_decay(config.learning_rate, settings.last_learning_rate, progress),
            batch_size=config.batch_size,
            wrong_weight=settings.wrong_weight,
            rng=self._rng,
        )
        self.num_updates += count

    def _practise(self) -> None:
        """Act under the commands of all plans, and remember where that leads."""
        settings, training = self._settings, self._training
        self._num_practices += 1
        size, before = training.actor.batch_size, training.steps
        steps = int(settings.practice_share * training.steps_left)
        if steps == 0:
            return
        count = int(np.clip(steps // self._horizon, 1, min(size, len(self._weights))))
        index = np.resize(self._rng.permutation(len(self._weights)), size)
        episodes = training.actor.run(
            self._learner.policy,
            self.vectors[index],
            np.full(size, float(self._horizon)),
            upper_bound=np.full(training.spec.num_objectives, np.inf),
            key=self._rng.integers(1 << 32, size=2, dtype=np.uint32),
            greedy=True,
            follows_rewards=False,
            count=count,
            most_steps=min(training.spec.step_limit, steps // count),
        )
        self.num_steps += training.steps - before
        lengths = np.asarray(episodes.lengths)[:count]
        longest = int(lengths.max())
        valid = np.arange(longest) < lengths[:, None]
        seen = observed(episodes)[:count, :longest][valid]
        plans, times = np.nonzero(valid)
        self._observations = np.concatenate([self._observations, seen])
        self._plans = np.concatenate([self._plans, index[plans].astype(np.int32)])
        self._times = np.concatenate([self._times, times.astype(np.int32)])

    @property
    def contender(self) -> Contender:
        """The network under the commands of plans that seem worth it, widespread first."""
        better = self.vectors - self._settings.slack * np.ptp(self.vectors, axis=0)
        clearly = (better[None] > self.vectors[:, None]).all(axis=2).any(axis=1)
        index = np.flatnonzero(~clearly)
        index = index[spread_out(self.vectors[index], min(len(index), self._settings.num_commands))]
        return Contender(
            self._learner.policy,
            self.vectors[index],
            np.full(len(index), float(self._horizon)),
            follows_rewards=False,
        )

    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""
        arrays = {
            **named_arrays(self._learner, "following.learner"),
            "following.observations": self._observations[self._num_remembered :],
            "following.plans": self._plans[self._num_remembered :],
            "following.times": self._times[self._num_remembered :],
        }
        facts = {
            "num_updates": self.num_updates,
            "num_steps": self.num_steps,
            "num_practices": self._num_practices,
            "rng": self._rng.bit_generator.state,
        }
        return arrays, facts

    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        """Go back to a snapshot."""
        self._learner = with_named_arrays(self._learner, arrays, "following.learner")

        def with_own(remembered: np.ndarray, name: str) -> np.ndarray:
            return np.concatenate([remembered, arrays[f"following.{name}"]])

        self._observations = with_own(self._observations, "observations")
        self._plans = with_own(self._plans, "plans")
        self._times = with_own(self._times, "times")
        self.num_updates, self.num_steps = facts["num_updates"], facts["num_steps"]
        self._num_practices = facts["num_practices"]
        self._rng.bit_generator.state = facts["rng"]
