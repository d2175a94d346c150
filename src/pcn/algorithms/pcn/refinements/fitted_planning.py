"""Fitted planning: where observations are few real numbers, a model is fitted and planned with.

Such observations hardly repeat, so transitions cannot be counted, and a return is what the policy
did and what chance did. But what actions do near a place is alike: a model is fitted at the nodes
of a lattice, dynamic programming finds a plan for each of many weights of the objectives, and a
network learns to follow them in imagined episodes. Its policies race against all others.
Related: Gordon, "Stable function approximation in dynamic programming", 1995.
"""

import math
from dataclasses import dataclass, replace

import gymnasium as gym
import numpy as np

from pcn.algorithms.pcn.refinements.planned.abstract import AbstractPlanning, has_few_options
from pcn.algorithms.pcn.refinements.planned.fitted_curriculum import FittedCurriculum
from pcn.algorithms.pcn.refinements.planning import Planning
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, at_most, positive
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads import AbstractActionHead
from pcn.planning.seen_steps import SeenSteps

_STEPS_PER_OPTION = 8
"""Fewer steps for each action, on average, tell nothing of most of them."""


@dataclass(frozen=True, kw_only=True)
class FittedPlanning(AbstractPlanning):
    """Plan with a model fitted to all steps, where observations are one or two real numbers.

    Only in stochastic environments, which those with random beginnings are, too. Where observations
    repeat, it is left to `planning`, which is more exact.
    """

    name = "fitted_planning"
    most_numbers: int = 2
    """Observations of more numbers would need a lattice of too many nodes."""
    most_options: int = 128
    """Environments with more different actions are not planned for."""
    memory_steps: int = 200_000
    """How many of the last steps the model is fitted to."""
    fewest_steps: int = 1000
    """With fewer steps there are no plans."""
    nodes: int = 8100
    """Nodes of the lattice."""
    most_along: int = 200
    """Nodes in each direction."""
    most_pairs: int = 200_000
    """Pairs of a node and an action: where actions are amounts, so many are planned with."""
    model_updates: int = 9000
    """Updates with which the smooth part of the model is fitted."""
    neighbours: tuple[int, ...] = (8, 32, 128)
    """To how many near steps the model may be fitted at a node; what predicts best is taken."""
    reach: float = 3.0
    """An action is known at a node if steps began no farther away than so many nodes."""
    least_steps: int = 3
    """How many such steps there must be."""
    draws: int = 8
    """Outcomes of chance that are told apart."""
    tested: int = 8000
    """Steps with which it is tried how many near steps predict best."""
    weights: int = 48
    """How many weights of the objectives there are plans for."""
    rehearsal_weights: int = 16
    """How many there are in a rehearsal."""
    episodes: int = 32
    """Imagined episodes of each plan."""
    slack: float = 0.02
    """Differences of their mean returns up to this share of an objective's range may be chance."""
    nearly: float = 0.001
    """An action counts e times less where it is worse than the best one by this share of what
    places differ in worth."""
    disturbance: float = 0.3
    """In lessons, something else than the plan is done with up to this probability."""
    most_lessons: int = 200_000
    """Most steps of imagined episodes that are taught."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(
            self, 1, "most_options", "memory_steps", "fewest_steps", "least_steps", "draws",
            "tested", "weights", "most_pairs", "model_updates", "rehearsal_weights", "episodes",
            "most_lessons",
        )  # fmt: skip
        at_least(self, 2, "nodes", "most_along")
        at_least(self, 0, "most_numbers", "disturbance", "slack")
        at_most(self, 1, "disturbance")
        positive(self, "reach", "nearly")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where chance plays a part, and observations are few numbers."""
        space = spec.observation_space
        return (
            not spec.deterministic
            and not spec.masked_actions
            and isinstance(space, gym.spaces.Box)
            and np.issubdtype(space.dtype, np.floating)
            and len(space.shape) == 1
            and space.shape[0] <= self.most_numbers
        )

    def handles(self, head: AbstractActionHead) -> bool:
        """Only actions with few options."""
        return has_few_options(head, self.most_options)

    def no_data(self, training: Training) -> SeenSteps:
        """No steps yet."""
        return SeenSteps(self.memory_steps, training.spec.step_limit)

    def seen(self, training: Training) -> SeenSteps:
        """What a training has seen so far."""
        seen = self.state(training).data
        assert isinstance(seen, SeenSteps)
        return seen

    def after_running(self, training: Training, episodes: Episodes) -> None:
        """Remember every step, whatever it was taken for."""
        head = training.learner.policy.action_head
        assert head.option_sizes is not None
        parts = np.moveaxis(head.to_options(np.asarray(episodes.actions)), -1, 0)
        self.seen(training).add(episodes, np.ravel_multi_index(tuple(parts), head.option_sizes))

    def is_sound(self, training: Training) -> bool:
        """Whether there are enough steps, and observations do not repeat."""
        counting = [one for one in training.refinements if isinstance(one, Planning)]
        if any(one.is_sound(training) for one in counting):
            return False
        sizes = training.learner.policy.action_head.option_sizes
        assert sizes is not None
        least = max(self.fewest_steps, _STEPS_PER_OPTION * math.prod(sizes))
        return len(self.seen(training)) >= least

    def in_rehearsal(self) -> "FittedPlanning":
        """Fewer plans, and no test."""
        return replace(
            self,
            updates=self.rehearsal_updates,
            cycles=1,
            weights=self.rehearsal_weights,
            trial_share=0.0,
        )

    def curriculum(self, training: Training, data: SeenSteps) -> FittedCurriculum:
        """Plans of the fitted model."""
        return FittedCurriculum(self, training, data)
