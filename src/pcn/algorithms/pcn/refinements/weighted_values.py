"""Weighted values: off-policy learning of what actions are worth, for all weights at once.

In a stochastic environment the return of an episode is what the policy did and what chance did.
Where observations are many numbers and do not repeat, there is no model to plan with. So a value
network learns from all steps what each action returns on average, if the policy that is best for
some weights of the objectives goes on after it. Agents that act by it explore, beside PCN's own
episodes. At the end a network of PCN's kind learns to do the same under commands: the expected
returns of these policies. It races against all others. See `valued/`.
"""

from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, UInt32

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.planned.abstract import has_few_options
from pcn.algorithms.pcn.refinements.planning import Planning
from pcn.algorithms.pcn.refinements.valued.contest import Contest
from pcn.algorithms.pcn.refinements.valued.following import Following
from pcn.algorithms.pcn.refinements.valued.replay import Replay
from pcn.algorithms.pcn.refinements.valued.value_agent import ValueAgent
from pcn.algorithms.pcn.refinements.valued.value_learning import (
    ValueLearner,
    expected_of_plans,
    learn_values,
    random_weights,
)
from pcn.algorithms.pcn.refinements.valued.value_state import ValueState
from pcn.algorithms.pcn.training import Training
from pcn.algorithms.pcn.update import cosine_decay
from pcn.checks import at_least, at_most, positive
from pcn.envs.observations import num_parts
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead
from pcn.nets.value_network import ValueNetwork
from pcn.planning.seen_steps import SeenSteps
from pcn.planning.weighted_planning import spread_weights
from pcn.types import AnyArray

UPDATES_AT_ONCE = 128
"""Updates in one compiled call."""
MOST_STARTS = 64
"""Beginnings of episodes at which it is asked what policies return."""
LEAST_EXTENT = 1e-3
"""Smallest extent in units: policies may all be alike in an objective."""
WEIGHED = 32
"""Policies that are asked."""


@dataclass(frozen=True, kw_only=True)
class WeightedValues(AbstractRefinement):
    """Learn values for all weights of the objectives, and offer policies that are best by them.

    Only in stochastic environments whose observations are several numbers and do not repeat. Where
    its agents return less than PCN's own commands, they get few steps, and offer nothing.
    """

    fewest_numbers: int = 3
    """Observations of fewer numbers are left to `fitted_planning`."""
    most_numbers: int = 128
    """Observations of more numbers, such as pictures, are not learnt from."""
    most_options: int = 32
    """Environments with more different actions have none."""
    memory_steps: int = 200_000
    """How many of the last steps are learnt from."""
    fewest_steps: int = 2_000
    """Nothing is learnt from fewer steps."""
    share: float = 0.85
    """Share of the exploring steps that agents take which act by the values."""
    trial_share: float = 0.2
    """Agents take their share in any case until this share of the exploring steps is taken."""
    least_share: float = 0.05
    """Their share after that, while PCN's own commands return more."""
    updates_per_step: float = 0.7
    """Updates of the values for each step, whoever took it."""
    most_updates: int = 200_000
    """Updates of the values at most: with a large budget each step brings fewer."""
    width: int = 128
    """Size of the value network's hidden layers."""
    batch_size: int = 64
    """Steps in one update."""
    learning_rate: float = 6e-4
    """Adam's step size at the beginning."""
    last_value_rate: float = 1e-4
    """Where it ends when exploration is over."""
    num_steps: int = 3
    """Rewards that are summed before a value is asked."""
    copied_after: int = 250
    """Updates after which the copy that targets are made with is renewed."""
    longest_outlook: float = 100.0
    """The discount is at most as if episodes ended by chance after so many steps on average. With
    a larger discount of the training, values are learnt only where episodes have twice as many
    steps at most."""
    value_scale: float = 2.5
    """How large a return is to the value network that differs from the mean by one standard
    deviation: Adam's steps are small beside large values."""
    extent_rate: float = 0.1
    """Weights count how far the expected returns of the policies lie apart; how fast they follow
    it, each time that values have been learnt."""
    single_share: float = 0.05
    """How much of the weights cares for one objective only."""
    middle_share: float = 0.5
    """How much of the weights is near the middle, where all objectives count the same; the others
    are spread evenly. What they have in common is learnt there first."""
    noise: float = 0.2
    """Each episode acts at random with up to this probability."""

    plans: int = 32
    """How many weights the final network learns to act by."""
    num_commands: int = 16
    """Most of their commands that race."""
    slack: float = 0.05
    """Expected returns that are worse everywhere by this share of their range do not race."""
    most_lessons: int = 48_000
    """States of the training that it learns from."""
    nearly: float = 0.003
    """An action counts e times less where it is worse than the best one by this share of what
    states differ in worth."""
    teaching_updates: int = 8_000
    """Updates of the final network."""
    teaching_round: int = 500
    """Updates after which it is looked at where the network is uncertain."""
    last_learning_rate: float = 1e-4
    """Where its learning rate ends; it begins with the training's own."""
    wrong_weight: float = 3.0
    """How much more a wrongly predicted action counts in the loss."""
    least_extent: float = 0.2
    """An objective's commands are scaled as if they spread at least over this share of their
    largest size."""
    practices: int = 3
    """How often the final network acts while it learns, to learn from states of its own."""
    practice_share: float = 0.05
    """Steps of each practice, as a share of those left at the end."""
    own_weight: float = 2.0
    """How much more often a state of its own is learnt than one of the training."""

    def __post_init__(self) -> None:
        at_least(
            self, 1, "fewest_numbers", "memory_steps", "fewest_steps", "most_updates", "width",
            "batch_size", "num_steps", "copied_after", "longest_outlook", "plans", "num_commands",
            "most_lessons", "teaching_updates", "teaching_round",
        )  # fmt: skip
        at_least(self, 2, "most_options")
        at_least(self, 0, "share", "updates_per_step", "single_share", "middle_share", "noise")
        at_least(
            self,
            0,
            "slack",
            "extent_rate",
            "wrong_weight",
            "least_extent",
            "practices",
            "practice_share",
        )
        at_most(self, 0.95, "share")
        at_most(self, 1 - self.single_share, "middle_share")
        at_most(self, 1, "single_share", "noise", "extent_rate", "least_extent", "practice_share")
        positive(self, "learning_rate", "last_value_rate", "last_learning_rate", "nearly")
        positive(self, "own_weight", "value_scale")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where chance plays a part, and observations are several numbers, of any kind."""
        return (
            not spec.deterministic
            and not spec.masked_actions
            and self.fewest_numbers <= num_parts(spec) <= self.most_numbers
        )

    def handles(self, head: AbstractActionHead) -> bool:
        """Only actions that are one choice of few options."""
        return has_few_options(head, self.most_options) and (
            head.option_sizes == (head.num_outputs,)
        )

    def state(self, training: Training) -> ValueState:
        """What a training remembers."""
        return self.state_in(training, ValueState)

    def fresh_state(self, training: Training) -> ValueState:
        """Nothing seen, nothing learnt."""
        spec = training.spec
        numbers, objectives = num_parts(spec), spec.num_objectives

        def blank() -> ValueLearner:
            zeros = np.zeros(numbers, np.float32)
            unit, key = np.ones(objectives, np.float32), np.zeros(2, np.uint32)
            return self._learner(training, zeros, zeros + 1, unit, key)

        seen = SeenSteps(self._room(training), spec.step_limit)
        return ValueState(seen, Contest(spec.num_objectives), blank)

    def _room(self, training: Training) -> int:
        """How many steps are remembered at most."""
        return min(self.memory_steps, training.config.total_steps)

    def _learner(
        self,
        training: Training,
        mean: Float[np.ndarray, " number"],
        deviation: Float[np.ndarray, " number"],
        unit: Float[np.ndarray, " objective"],
        key: UInt32[np.ndarray, " 2"],
    ) -> ValueLearner:
        sizes = training.learner.policy.action_head.option_sizes
        assert sizes is not None
        return _fresh(mean, deviation, unit, sizes[0], self.width, key)

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Remember every step, whatever it was taken for."""
        state = self.state(training)
        if state.open:
            options = training.learner.policy.action_head.to_options(np.asarray(episodes.actions))
            state.seen.add(episodes, options[..., 0])

    def is_left_to_planning(self, training: Training) -> bool:
        """Whether observations seem to repeat, so that transitions are still counted."""
        counting = [one for one in training.refinements if isinstance(one, Planning)]
        return any(not one.counts(training).given_up for one in counting)

    def sees_the_end(self, training: Training) -> bool:
        """Whether values look far enough ahead: rewards are discounted, or episodes are short."""
        longest = self.state(training).seen.longest
        discounted = training.config.discount <= self._discount(training)
        return discounted or longest <= 2 * self.longest_outlook

    def leads(self, training: Training) -> bool:
        """Whether agents that act by the values return more than PCN's own commands."""
        state = self.state(training)
        if state.learner is None or not self.sees_the_end(training):
            return False
        return state.contest.is_ahead()

    def after_exploring(self, training: Training) -> None:
        """Learn from what was seen, then act by what was learnt."""
        state = self.state(training)
        if self.share == 0 or len(state.seen) < self.fewest_steps:
            return
        if self.is_left_to_planning(training) or not self.sees_the_end(training):
            return
        if state.learner is None:
            state.learner = self._begun(training, state)
        self._learn(training, state)
        while training.exploring_steps_left > 0 and (
            state.acted_steps < self._share_now(training) * training.steps
        ):
            self._explore(training, state)
            self._learn(training, state)

    def after_commanding(
        self,
        training: Training,
        desired_returns: Float[np.ndarray, "episode objective"],
        episodes: Episodes,
    ) -> None:
        """Note what comes of PCN's own commands."""
        contest = self.state(training).contest
        contest.note_commands(desired_returns, episodes, training.config.discount)

    def _share_now(self, training: Training) -> float:
        """The share of all steps so far that agents may have taken."""
        all_steps = training.steps + training.exploring_steps_left
        is_trial = training.steps < self.trial_share * all_steps
        return self.share if is_trial or self.leads(training) else self.least_share

    def _begun(self, training: Training, state: ValueState) -> ValueLearner:
        """Untrained values in units of what episodes have returned so far."""
        steps = state.seen.steps
        seen = steps.observations.astype(np.float64)
        deviation = seen.std(axis=0)
        deviation = np.where(deviation > 1e-6, deviation, 1.0)
        spread = self._spread(training)
        learner = self._learner(
            training,
            seen.mean(axis=0).astype(np.float32),
            deviation.astype(np.float32),
            spread / self.value_scale,
            training.next_key(),
        )
        extent = jnp.asarray(spread)
        return eqx.tree_at(
            lambda one: (one.values.extent, one.older.extent), learner, (extent, extent)
        )

    def _spread(self, training: Training) -> Float[np.ndarray, " objective"]:
        """The standard deviation of stored returns; where they do not differ, their size or 1."""
        returns = training.dataset.rows.returns
        deviation, size = returns.std(axis=0), np.abs(returns).max(axis=0)
        size = np.where(size > 0, size, 1.0)
        return np.where(deviation > 1e-6 * size, deviation, size).astype(np.float32)

    def _discount(self, training: Training) -> float:
        """The training's own, but for episodes without end."""
        return min(training.config.discount, 1.0 - 1.0 / self.longest_outlook)

    def _learn(self, training: Training, state: ValueState) -> None:
        """Make the updates that the steps since the last time allow."""
        assert state.learner is not None
        total = training.config.total_steps
        rate = min(self.updates_per_step, self.most_updates / total)
        state.due_updates += rate * (training.steps - state.learnt_steps)
        state.learnt_steps = training.steps
        calls = int(state.due_updates) // UPDATES_AT_ONCE
        if calls == 0:
            return
        state.due_updates -= calls * UPDATES_AT_ONCE
        learner = state.learner
        exploring = max(training.steps + training.exploring_steps_left, 1)
        progress = np.array([min(1.0, training.steps / exploring)])
        (value_rate,) = cosine_decay(self.learning_rate, self.last_value_rate, progress)
        replay = Replay.of(state.seen.steps, self._room(training))
        for _ in range(calls):
            learner = learn_values(
                learner,
                replay,
                np.asarray(len(state.seen), np.int32),
                training.next_key(),
                num_updates=UPDATES_AT_ONCE,
                batch_size=self.batch_size,
                learning_rate=np.asarray(value_rate, np.float32),
                discount=self._discount(training),
                num_steps=self.num_steps,
                copied_after=self.copied_after,
                single_share=self.single_share,
                middle_share=self.middle_share,
            )
        state.learner = self._weighing(learner, state)

    def _weighing(self, learner: ValueLearner, state: ValueState) -> ValueLearner:
        """The learner whose weights follow what its policies differ in: by chance no more."""
        steps = state.seen.steps
        starts = steps.observations[steps.first][-MOST_STARTS:]
        if len(starts) == 0:
            return learner
        weights = spread_weights(len(learner.values.unit), WEIGHED)
        extent = np.ptp(expected_of_plans(learner.values, starts, weights), axis=0)
        old = np.asarray(learner.values.extent)
        least = LEAST_EXTENT * np.asarray(learner.values.unit)
        new = jnp.asarray(np.maximum(old + self.extent_rate * (extent - old), least), jnp.float32)
        return eqx.tree_at(lambda one: (one.values.extent, one.older.extent), learner, (new, new))

    def _explore(self, training: Training, state: ValueState) -> None:
        """A batch of episodes under random weights, with a little noise."""
        assert state.learner is not None
        size, before = training.schedule.num_episodes, training.steps
        batch = training.schedule.batch(size, training.exploring_steps_left)
        objectives = training.spec.num_objectives
        weights = _weights(
            training.next_key(),
            (size,),
            objectives,
            single_share=self.single_share,
            middle_share=self.middle_share,
        )
        agents = ValueAgent(
            state.learner.values,
            training.learner.policy.action_head,
            np.asarray(weights),
            (self.noise * training.rng.uniform(size=size)).astype(np.float32),
        )
        episodes = training.runner.run(
            agents, training.next_key(), size, count=batch.count, most_steps=batch.most_steps
        )
        state.acted_steps += training.steps - before
        state.contest.note_weights(np.asarray(weights), episodes, training.config.discount)
        training.dataset.add(episodes)

    def contender(self, training: Training, key: UInt32[np.ndarray, " 2"]) -> Following | None:
        """A network that follows the values; None where PCN's own commands return more."""
        state = self.state(training)
        state.open = False  # what the values remember must not change while it is learnt
        if not self.leads(training) or self.is_left_to_planning(training):
            return None
        if not state.seen.steps.first.any():  # one endless episode: where others begin is unknown
            return None
        return Following(self, training, state, key)


@eqx.filter_jit
def _fresh(
    mean: Float[AnyArray, " number"],
    deviation: Float[AnyArray, " number"],
    unit: Float[AnyArray, " objective"],
    num_options: int,
    width: int,
    key: UInt32[AnyArray, " 2"],
) -> ValueLearner:
    """An untrained learner; one program for all its arrays."""
    network = ValueNetwork(
        mean, deviation, unit, num_options=num_options, width=width, key=jnp.asarray(key)
    )
    return ValueLearner.fresh(network)


_weights = eqx.filter_jit(random_weights)
