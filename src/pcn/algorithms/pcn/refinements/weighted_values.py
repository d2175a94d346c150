"""Weighted values: off-policy learning of what actions are worth, for all weights at once.

In a stochastic environment the return of an episode is what the policy did and what chance did.
Where observations are many numbers and do not repeat, there is no model to plan with. So a value
network learns from all steps what each action returns on average, if the policy that is best for
some weights of the objectives goes on after it. Agents that act by it explore, beside PCN's own
episodes. At the end a network of PCN's kind learns to do the same under commands: the expected
returns of these policies. It races against all others. See `valued/`.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt32

from pcn.algorithms.pcn.refinements.planning import Planning
from pcn.algorithms.pcn.refinements.valued import learning
from pcn.algorithms.pcn.refinements.valued.following import Following
from pcn.algorithms.pcn.refinements.valued.settings import FollowingSettings, LearningSettings
from pcn.algorithms.pcn.refinements.valued.value_agent import ValueAgent
from pcn.algorithms.pcn.refinements.valued.value_state import ValueState
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.envs.observations import num_parts
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead
from pcn.planning.seen_steps import SeenSteps

MOST_ACTIONS = 2**30
"""All parts of an action are one whole number of 32 bits."""


@dataclass(frozen=True, kw_only=True)
class WeightedValues(LearningSettings, FollowingSettings):
    """Learn values for all weights of the objectives, and offer policies that are best by them.

    Only in stochastic environments whose observations are several numbers and do not repeat.
    """

    fewest_numbers: int = 3
    """Observations of fewer numbers are left to `fitted_planning`."""
    most_numbers: int = 128
    """Observations of more numbers, such as pictures, are not learnt from."""
    most_options: int = 32
    """Environments with more options have none; those of all parts of an action count."""
    several_parts: bool = True
    """Whether values are learnt of actions of several parts, too, such as levels of a Box."""
    fewest_steps: int = 2_000
    """Nothing is learnt from fewer steps."""
    share: float = 0.8
    """Share of the exploring steps that agents take which act by the values."""
    long_share: float = 0.05
    """The same at least where values do not see the end of episodes. There they take as large a
    share of the steps as they found of the archive, and nothing else gives way to them."""
    proven_share: float = 0.25
    """There a network follows the values only if they found such a share of the archive."""
    noise: float = 0.2
    """Each episode acts at random with up to this probability."""
    quiet_share: float = 0.5
    """Share of the episodes without such noise: a single random action may undo what takes many."""
    update_share: float = 0.25
    """Once values are learnt, the network that explores under PCN's commands gets this share of
    its updates: it takes few of the steps."""

    def __post_init__(self) -> None:
        LearningSettings.__post_init__(self)
        FollowingSettings.__post_init__(self)
        at_least(self, 1, "fewest_numbers", "fewest_steps")
        at_least(self, 2, "most_options")
        at_least(
            self, 0, "share", "long_share", "proven_share", "noise", "quiet_share", "update_share"
        )
        at_most(self, 0.95, "share")
        at_most(self, self.share, "long_share")
        at_most(self, 1, "proven_share", "noise", "quiet_share", "update_share")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where chance plays a part, and observations are several numbers, of any kind."""
        return (
            not spec.deterministic and self.fewest_numbers <= num_parts(spec) <= self.most_numbers
        )

    def handles(self, head: AbstractActionHead) -> bool:
        """Only actions that are a choice of few options, or several such choices."""
        sizes = head.option_sizes
        return (
            sizes is not None
            and (self.several_parts or len(sizes) == 1)
            and sum(sizes) == head.num_outputs <= self.most_options
            and 1 < math.prod(sizes) <= MOST_ACTIONS
        )

    def state(self, training: Training) -> ValueState:
        """What a training remembers."""
        return self.state_in(training, ValueState)

    def fresh_state(self, training: Training) -> ValueState:
        """Nothing seen, nothing learnt."""
        room, limit = learning.room(self, training), training.spec.step_limit
        # Without a discount, what values expect beyond the last step of a short episode would be a
        # large part of what they promise.
        ending = self.seen_to_the_end if learning.is_undiscounted(self, training) else 0
        seen = SeenSteps(room, limit, truncation_ends_up_to=ending)
        return ValueState(seen, lambda: learning.blank(self, training))

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Remember every step, whatever it was taken for."""
        state = self.state(training)
        if state.open:
            head = training.learner.policy.action_head
            assert head.option_sizes is not None
            options = np.moveaxis(head.to_options(np.asarray(episodes.actions)), -1, 0)
            numbers = np.ravel_multi_index(tuple(options), head.option_sizes, mode="clip")
            state.seen.add(episodes, numbers)

    def is_left_to_planning(self, training: Training) -> bool:
        """Whether observations seem to repeat, so that transitions are still counted."""
        counting = [one for one in training.refinements if isinstance(one, Planning)]
        return any(not one.counts(training).given_up for one in counting)

    def understands_masks(self, training: Training) -> bool:
        """Whether action masks, if there are any, tell about every option."""
        head = training.learner.policy.action_head
        return not training.spec.masked_actions or head.mask_size == sum(head.option_sizes or ())

    @property
    def seen_to_the_end(self) -> int:
        """Steps of the longest episode whose end values see from the beginning."""
        return int(2 * self.longest_outlook)

    def sees_the_end(self, training: Training) -> bool:
        """Whether values look far enough ahead: rewards are discounted, or episodes are short."""
        discounted = not learning.is_undiscounted(self, training)
        return discounted or self.state(training).seen.longest <= self.seen_to_the_end

    def acting_share(self, training: Training) -> float:
        """Share of the exploring steps that agents take which act by the values."""
        if self.sees_the_end(training):
            return self.share
        if self.long_share == 0:
            return 0.0
        return min(max(self.share_found(training), self.long_share), self.share)

    def share_found(self, training: Training) -> float:
        """Share of the archive that the agents found which act by the values."""
        return self.state(training).share_found(training.dataset.archive().returns)

    def may_learn(self, training: Training) -> bool:
        """Whether values are learnt, once there are enough steps and observations do not repeat."""
        return self.acting_share(training) > 0 and self.understands_masks(training)

    def has_learnt(self, training: Training) -> bool:
        """Whether values were learnt, and are learnt still."""
        return self.state(training).learner is not None and self.may_learn(training)

    def may_take_over(self, training: Training) -> bool:
        """Whether other refinements for such environments give way once values are learnt."""
        return self.may_learn(training) and self.sees_the_end(training)

    def has_taken_over(self, training: Training) -> bool:
        """Whether they have given way."""
        return self.has_learnt(training) and self.sees_the_end(training)

    def share_of_updates(self, training: Training) -> float:
        """Fewer once values have taken over."""
        return self.update_share if self.has_taken_over(training) else 1.0

    def after_exploring(self, training: Training) -> None:
        """Learn from what was seen, then act by what was learnt."""
        state = self.state(training)
        if len(state.seen) < self.fewest_steps or not self.may_learn(training):
            return
        if self.is_left_to_planning(training):
            return
        if state.learner is None:
            state.learner = learning.begun(self, training, state)
        learning.learn(self, training, state)
        while training.exploring_steps_left > 0 and (
            state.acted_steps < self.acting_share(training) * training.steps
        ):
            self._explore(training, state)
            learning.learn(self, training, state)

    def _explore(self, training: Training, state: ValueState) -> None:
        """A batch of episodes under random weights, with a little noise."""
        assert state.learner is not None
        size, before = training.schedule.num_episodes, training.steps
        batch = training.schedule.batch(size, training.exploring_steps_left)
        drawn, chances = learning.drawn_weights(self, state.learner, state, training.next_key())
        weights = drawn[training.rng.choice(len(drawn), size, p=chances)]
        noise = self.noise * training.rng.uniform(size=size)
        noise[training.rng.uniform(size=size) < self.quiet_share] = 0.0
        agents = ValueAgent(
            action_head=training.learner.policy.action_head,
            noise=noise.astype(np.float32),
            values=state.learner.values,
            weights=np.asarray(weights),
        )
        episodes = training.runner.run(
            agents, training.next_key(), size, count=batch.count, most_steps=batch.most_steps
        )
        state.acted_steps += training.steps - before
        training.dataset.add(episodes)
        returns = episodes.returns(discount=training.config.discount)
        state.note_found(returns, training.dataset.archive().returns)

    def contender(self, training: Training, key: UInt32[np.ndarray, " 2"]) -> Following | None:
        """A network that follows the values; None where nothing was learnt."""
        state = self.state(training)
        state.open = False  # what the values remember must not change while it is learnt
        if not self.has_learnt(training) or self.is_left_to_planning(training):
            return None
        if not self.sees_the_end(training) and self.share_found(training) < self.proven_share:
            return None
        if not state.seen.steps.first.any():  # one endless episode: where others begin is unknown
            return None
        learner = learning.polished(self, training, state, key)
        drawn, chances = learning.drawn_weights(self, learner, state, key)
        index = np.random.default_rng(key).choice(
            len(drawn), min(self.plans // 2, len(drawn)), p=chances, replace=False
        )
        return Following(self, training, learner.values, state.seen.steps, drawn[index], key)
