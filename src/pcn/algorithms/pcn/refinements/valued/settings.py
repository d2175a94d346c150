"""Settings of weighted values, in groups: how values are learnt, and how a network follows them."""

from dataclasses import dataclass

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.checks import at_least, at_most, positive


@dataclass(frozen=True, kw_only=True)
class LearningSettings(AbstractRefinement):
    """How values are learnt from steps."""

    memory_steps: int = 200_000
    """How many of the last steps are learnt from."""
    updates_per_step: float = 0.25
    """Updates of the values for each step, whoever took it."""
    fewest_updates: int = 50_000
    """Updates of the values in the whole training at least, as far as one for each step allows."""
    most_updates: int = 200_000
    """Updates of the values at most: with a large budget each step brings fewer."""
    width: int = 128
    """Size of the value network's hidden layers."""
    normalises: bool = True
    """Whether the outputs of its hidden layers are normalised (layer norm)."""
    batch_size: int = 64
    """Steps in one update."""
    learning_rate: float = 6e-4
    """Adam's step size at the beginning."""
    last_value_rate: float = 1e-4
    """Where it ends when exploration is over."""
    polishing: float = 0.2
    """Updates after exploration, as a share of those before it."""
    polishing_rate: float = 3e-4
    """Adam's step size at their beginning; it ends as above."""
    num_steps: int = 3
    """Rewards that are summed before a value is asked: what is far away is learnt sooner."""
    num_steps_undiscounted: int = 1
    """The same where the training has no discount. Later rewards of a sum are those of an agent
    that had other weights; without a discount values would be wrong by them up to the end."""
    copied_after: int = 250
    """Updates after which the copy that targets are made with is renewed."""
    longest_outlook: float = 100.0
    """The discount is at most as if episodes ended by chance after so many steps on average. With
    a larger discount of the training, values are learnt only where episodes have twice as many
    steps at most."""
    value_scale: float = 10.0
    """How large to the value network the difference is between policies of different weights, or
    the first standard deviation of returns, if that is larger: Adam's steps are small beside it."""
    huber_delta: float = 1.0
    """Errors of values count squared up to this size in units, and linearly beyond (Huber loss)."""
    huber_delta_undiscounted: float = 5.0
    """The same where the training has no discount. A small one learns medians rather than means:
    these differ where outcomes are skewed."""
    extent_rate: float = 0.1
    """Weights count how far the expected returns of the policies lie apart; how fast they follow
    it, each time that values have been learnt."""
    single_share: float = 0.05
    """How much of the weights cares for one objective only."""
    middle_share: float = 0.5
    """How much of the weights is near the middle, where all objectives count the same; the others
    are spread evenly. What they have in common is learnt there first."""
    alike: float = 0.15
    """Weights are drawn less often where many have policies whose expected returns differ by less,
    as a share of how far those of all policies lie apart."""

    def __post_init__(self) -> None:
        at_least(
            self, 1, "memory_steps", "most_updates", "width", "batch_size", "num_steps",
            "num_steps_undiscounted", "copied_after", "longest_outlook",
        )  # fmt: skip
        at_least(
            self, 0, "updates_per_step", "fewest_updates", "polishing", "single_share",
            "middle_share", "extent_rate",
        )  # fmt: skip
        at_most(self, 1, "single_share", "extent_rate")
        at_most(self, 1 - self.single_share, "middle_share")
        positive(
            self,
            "learning_rate",
            "last_value_rate",
            "polishing_rate",
            "value_scale",
            "huber_delta",
            "huber_delta_undiscounted",
            "alike",
        )


@dataclass(frozen=True, kw_only=True)
class FollowingSettings(AbstractRefinement):
    """How a network learns to do under commands what is worth most."""

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
            self, 1, "plans", "num_commands", "most_lessons", "teaching_updates", "teaching_round"
        )
        at_least(self, 0, "slack", "wrong_weight", "least_extent", "practices", "practice_share")
        at_most(self, 1, "least_extent", "practice_share")
        positive(self, "nearly", "last_learning_rate", "own_weight")
