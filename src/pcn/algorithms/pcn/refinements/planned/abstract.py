"""What all planning has in common: plans are rehearsed while exploring, and taught at the end."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import UInt32

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.planned.curriculum import AbstractCurriculum
from pcn.algorithms.pcn.refinements.planned.distilling import Distilling
from pcn.algorithms.pcn.refinements.planned.gathered import Data, Gathered
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most, positive
from pcn.nets.heads import AbstractActionHead


@dataclass(frozen=True, kw_only=True)
class AbstractPlanning(AbstractRefinement):
    """A model of the environment is planned with, and a network learns to follow the plans."""

    name: ClassVar[str]
    """What `metrics.json` calls its network."""

    updates: int = 6000
    """Updates in a cycle, after which the network is compared with the plans in the model."""
    cycles: int = 3
    """Most cycles; the first one that is good enough is the last."""
    round: int = 500
    """Updates after which it is looked at where the network is uncertain."""
    enough: float = 0.002
    """How far the network may fall short of the plans, as a share of their range."""
    last_learning_rate: float = 1e-4
    """Where each cycle ends; it begins with the training's own learning rate."""
    wrong_weight: float = 3.0
    """How much more a wrongly predicted action counts in the loss."""
    missed_weight: float = 3.0
    """How much more the commands that the network failed are drawn in the next cycle."""
    least_extent: float = 0.2
    """An objective's commands are scaled as if they spread at least over this share of their
    largest size."""
    trial_share: float = 0.1
    """Steps of executions that test the model, as a share of those left at the end."""
    fewest_trials: int = 8
    """Fewer executions than this tell nothing."""
    trial_errors: float = 3.0
    """Standard errors by which they may miss what the model says, on average."""
    trial_slack: float = 0.05
    """Besides, the share of an objective's range that does not matter."""
    most_doubtful: int = 16
    """Commands that race if the model has failed its test."""
    rehearsals: int = 3
    """How often during exploration plans are made and tried, to see more of where they lead."""
    rehearsal_share: float = 0.1
    """Steps of each rehearsal, as a share of all exploring steps."""
    rehearsal_updates: int = 2000
    """Updates with which a network learns the plans of a rehearsal."""
    rehearsal_noise: float = 0.2
    """In rehearsals, each episode acts at random with up to this probability."""

    def __post_init__(self) -> None:
        at_least(self, 1, "updates", "cycles", "round", "rehearsal_updates", "most_doubtful")
        at_least(self, 2, "fewest_trials")
        at_least(self, 0, "trial_share", "trial_errors", "trial_slack")
        at_least(self, 0, "rehearsals", "rehearsal_share", "rehearsal_noise")
        at_most(self, 1, "rehearsal_noise", "trial_share")
        at_least(self, 0, "enough", "wrong_weight", "missed_weight", "least_extent")
        at_most(self, 1, "least_extent")
        positive(self, "last_learning_rate")

    def state(self, training: Training) -> Gathered[Any]:
        """What a training has gathered so far."""
        return self.state_in(training, Gathered)

    @abstractmethod
    def no_data(self, training: Training) -> Data:
        """A place for data, of which there are none yet."""

    @abstractmethod
    def is_sound(self, training: Training) -> bool:
        """Whether enough was seen to plan with."""

    def may_race(self, training: Training) -> bool:
        """Whether enough was seen for plans to race beside what else there is."""
        return self.is_sound(training)

    @abstractmethod
    def curriculum(self, training: Training, data: Any) -> AbstractCurriculum:
        """Plans of the model that the data suggest, as something to learn."""

    @abstractmethod
    def in_rehearsal(self) -> "AbstractPlanning":
        """The settings for a rehearsal: plans may be rougher, and the model is not tested."""

    def fresh_state(self, training: Training) -> Gathered[Any]:
        """Nothing gathered yet."""
        return Gathered(self.no_data(training))

    def after_exploring(self, training: Training) -> None:
        """Rehearse plans now and then, at equal distances."""
        state = self.state(training)
        total = training.steps + training.exploring_steps_left
        if (state.rehearsals + 1) * total > (self.rehearsals + 1) * training.steps:
            return
        if state.rehearsals < self.rehearsals:
            state.rehearsals += 1
            self._rehearse(training, int(self.rehearsal_share * total))

    def _rehearse(self, training: Training, num_steps: int) -> None:
        """Follow plans with a little noise and store what comes of it.

        A plan with what was hardly seen may promise too much: trying it tells.
        """
        fitting = self.in_rehearsal().contender(training, training.next_key())
        if fitting is None:
            return
        while not fitting.done:
            fitting.iterate()
        contender, size = fitting.contender, training.schedule.num_episodes
        end, begin = training.steps + num_steps, 0
        while training.steps < end and training.exploring_steps_left > 0:
            index = np.arange(begin, begin + size) % len(contender)
            begin += size
            batch = training.schedule.batch(size, training.exploring_steps_left)
            episodes = training.actor.run(
                contender.policy,
                contender.desired_returns[index],
                contender.horizons[index],
                noise=self.rehearsal_noise * training.rng.uniform(size=size),
                upper_bound=np.full(training.spec.num_objectives, np.inf),
                key=training.next_key(),
                greedy=True,
                follows_rewards=contender.follows_rewards,
                count=batch.count,
                most_steps=batch.most_steps,
            )
            training.dataset.add(episodes)

    def contender(self, training: Training, key: UInt32[np.ndarray, " 2"]) -> Distilling | None:
        """A network that follows plans; None where too little is known."""
        if not self.may_race(training):
            return None
        copy = self.no_data(training)
        copy.from_arrays(
            self.state(training).data.to_arrays()
        )  # more comes while others are fitted
        return Distilling(self, training, copy, key)


def has_few_options(head: AbstractActionHead, most: int) -> bool:
    """Whether the actions of a head can be counted, and there is something to choose."""
    sizes = head.option_sizes
    return sizes is not None and 1 < math.prod(sizes) <= most
