"""Expected rewards: labels say what the actions of an episode bring on average.

In a stochastic environment the return of an episode is what the policy did and what chance did.
Conditioned on it, a network learns to hope: a risky way that went well looks better than a safe
one. So mean rewards and the chance of an end are learnt from all episodes that were run, every
episode is labelled with what its actions bring on average, and a network of its own is fitted to
the episodes that are best by these labels. While it acts, its command changes by what was to be
expected, too. Its policies race against all others. Chance that shows only in later states is
not removed. Related: Paster et al., "You can't count on luck", 2022, arXiv:2205.15967.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt32

from pcn.algorithms.pcn.command_selection import select_commands
from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.expecting.episode_memory import EpisodeMemory
from pcn.algorithms.pcn.refinements.expecting.expectant import Expectant
from pcn.algorithms.pcn.refinements.planned.abstract import AbstractPlanning
from pcn.algorithms.pcn.refinements.weighted_values import WeightedValues
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most, positive
from pcn.envs.observations import empty_observations
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes


@dataclass(frozen=True, kw_only=True)
class ExpectedRewards(AbstractRefinement):
    """Fit a network to expected instead of realised returns, where much of them is chance.

    Only in stochastic environments whose observations do not repeat, and only for objectives whose
    rewards do not follow from observation and action.
    """

    memory_steps: int = 200_000
    """How many of the last steps are learnt from; fewer where observations are large."""
    updates: int = 3_000
    """Updates by which mean rewards and ends are learnt."""
    held_out: int = 8
    """One episode in so many is kept out of that, to judge what was learnt."""
    least_random: float = 0.1
    """Rewards, or ends, are random where a larger share of their variance is not foreseen."""
    least_survival: float = 0.05
    """Smallest chance of going on that desired returns are divided by."""
    policy_updates: int = 4_096
    """Updates of the network."""
    last_learning_rate: float = 1e-4
    """Where its learning rate ends; it begins with the training's own."""
    wrong_weight: float = 1.0
    """How much more a wrongly predicted action counts in the loss."""
    capacity: int = 200
    """How many of the best episodes are learnt."""
    copies: int = 8
    """Most of them that have the same expected return."""
    tolerance: float = 0.01
    """Expected returns are the same up to this share of their range."""
    recent: int = 256
    """How many of the last episodes are learnt whatever they brought: they show bad luck, too."""
    archive_share: float = 0.2
    """Share of each batch from non-dominated episodes."""
    recent_share: float = 0.4
    """Share of each batch from the last episodes."""
    num_commands: int = 64
    """Most commands that race; no more than the archive sends, which knows the steps."""

    rounds: int = 3
    """How often such a network is fitted and explores before exploration is over."""
    round_updates: int = 2_048
    """Updates of the network in each of these rounds."""
    round_share: float = 0.1
    """Steps of each round, as a share of all steps."""

    def __post_init__(self) -> None:
        at_least(
            self, 1, "memory_steps", "updates", "policy_updates", "capacity", "copies", "recent",
            "num_commands", "round_updates",
        )  # fmt: skip
        at_least(self, 2, "held_out")
        at_least(self, 0, "least_random", "archive_share", "recent_share", "wrong_weight")
        at_least(self, 0, "rounds", "round_share")
        at_most(self, 1, "archive_share", "recent_share", "least_survival")
        at_most(self, 1 - self.archive_share, "recent_share")
        positive(self, "least_survival", "last_learning_rate", "tolerance")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions can have different outcomes."""
        return not spec.deterministic

    def fresh_state(self, training: Training) -> EpisodeMemory:
        """No episode is remembered yet."""
        example = empty_observations(training.spec.observation_space, ())
        return EpisodeMemory(example, self.memory_steps)

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Remember every episode, whatever it was run for."""
        self.memory(training).add(episodes)

    def memory(self, training: Training) -> EpisodeMemory:
        """The episodes that a training remembers."""
        return self.state_in(training, EpisodeMemory)

    def is_left_to_others(self, training: Training) -> bool:
        """Whether a model can be planned with, or values have taken over: these bring more."""
        planning = [one for one in training.refinements if isinstance(one, AbstractPlanning)]
        valuing = [one for one in training.refinements if isinstance(one, WeightedValues)]
        return any(one.is_sound(training) for one in planning) or any(
            one.has_taken_over(training) for one in valuing
        )

    def after_exploring(self, training: Training) -> None:
        """Explore with a network for expected returns, if the next round of it is due.

        Rounds come last, when much is known. Where nothing is random there are none.
        """
        memory, total = self.memory(training), training.config.total_steps
        left = (self.rounds - memory.num_rounds) * self.round_share * total
        if memory.num_rounds >= self.rounds or training.exploring_steps_left > left:
            return
        if self.is_left_to_others(training):
            return
        memory.num_rounds += 1
        fitting = Expectant(
            self, training, memory, training.next_key(), policy_updates=self.round_updates
        )
        if not fitting.matters:
            memory.num_rounds = self.rounds
            return
        while not fitting.done:
            fitting.iterate()
        before = training.steps
        while training.steps - before < self.round_share * total and (
            training.exploring_steps_left > 0
        ):
            self._explore(fitting, training)

    def _explore(self, fitting: Expectant, training: Training) -> None:
        """Ask for a little more than is expected, as PCN does (section 4.3)."""
        config, schedule, rng = training.config, training.schedule, training.rng
        returns, horizons = select_commands(fitting.archive, schedule.num_episodes, config, rng)
        size = len(horizons)
        batch = schedule.batch(size, training.exploring_steps_left)
        episodes = training.actor.run(
            fitting.policy,
            returns,
            horizons,
            noise=config.action_noise * rng.uniform(size=size) ** config.action_noise_exponent,
            repeat=training.repeat_probabilities(size),
            upper_bound=np.full(returns.shape[1], np.inf),
            follows_rewards=False,
            key=training.next_key(),
            count=batch.count,
            most_steps=np.minimum(batch.most_steps, training.most_steps(horizons)),
        )
        for refinement in training.refinements:
            episodes = refinement.before_storing(training, episodes)
        training.dataset.add(episodes)

    def contender(self, training: Training, key: UInt32[np.ndarray, " 2"]) -> "Expectant | None":
        """A network for expected returns; None where rewards and ends are no matter of chance.

        Nor is there one where a model can be planned with, or values are learnt.
        """
        if self.is_left_to_others(training):
            return None
        memory = self.memory(training)
        memory.open = False
        fitting = Expectant(self, training, memory, key, policy_updates=self.policy_updates)
        return fitting if fitting.matters else None
