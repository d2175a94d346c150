"""Sticky actions: random actions are repeated for a while, differently long in each episode."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement, AbstractState
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most
from pcn.envs.observations import whole_numbers
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractBoxHead


class Endings(AbstractState):
    """How many of the random episodes of the warm-up came to an end by themselves."""

    def __init__(self) -> None:
        self.warming_up = True
        self.terminated = 0
        self.episodes = 0

    @property
    def prevail(self) -> bool:
        """Whether more than half of the random episodes came to an end by themselves."""
        return 2 * self.terminated > self.episodes

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The counts, and whether they are complete."""
        return {
            "warming_up": np.asarray(self.warming_up),
            "terminated": np.asarray(self.terminated),
            "episodes": np.asarray(self.episodes),
        }

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self.warming_up = bool(arrays["warming_up"])
        self.terminated, self.episodes = int(arrays["terminated"]), int(arrays["episodes"])


@dataclass(frozen=True, kw_only=True)
class StickyActions(AbstractRefinement):
    """Repeat random actions for a while, differently long in each episode.

    A walk that changes its mind at every step stays near its start; one that keeps going sees the
    far corners. A mixture depends on neither being right. Where random episodes come to an end by
    themselves, they get somewhere without keeping going, and most of them change their minds more
    often: a long repetition leaves no room for what has to be done in between. That holds for
    discrete actions and real-valued observations alone. Where whole numbers are observed, as in a
    grid, far places are reached by keeping going.
    """

    most: float = 0.95
    """Largest probability that a random action is the last action again."""
    exponent: float = 2.0
    """An episode's probability is `most - u^exponent`, u uniform, and never below zero."""
    ending_exponent: float = 0.5
    """Used instead of `exponent` once most random episodes came to an end by themselves, where
    actions are discrete and observations are real numbers."""

    def __post_init__(self) -> None:
        at_least(self, 0, "most", "exponent", "ending_exponent")
        at_most(self, 1, "most")

    def fresh_state(self, training: Training) -> Endings:
        """No episode has been seen yet."""
        del training
        return Endings()

    def after_storing(self, training: Training, episodes: Episodes) -> None:
        """Count the random episodes that came to an end by themselves."""
        seen = self.state_in(training, Endings)
        if seen.warming_up:
            real = np.asarray(episodes.real_mask)
            seen.terminated += int(np.asarray(episodes.terminated)[real].sum())
            seen.episodes += int(real.sum())

    def after_warming_up(self, training: Training) -> None:
        """What comes now is no longer random."""
        self.state_in(training, Endings).warming_up = False

    def repeat_probabilities(
        self, num_episodes: int, training: Training
    ) -> Float[np.ndarray, " episode"]:
        """Between hardly ever switching to another action and choosing anew at every step."""
        discrete = not isinstance(training.learner.policy.action_head, AbstractBoxHead)
        real = not whole_numbers(training.spec)
        restless = discrete and real and self.state_in(training, Endings).prevail
        exponent = self.ending_exponent if restless else self.exponent
        return np.clip(self.most - training.rng.uniform(size=num_episodes) ** exponent, 0.0, 1.0)
