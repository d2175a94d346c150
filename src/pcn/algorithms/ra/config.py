"""Hyperparameters of RA."""

from dataclasses import dataclass
from typing import Literal, get_args

from pcn.algorithms.stacked.config import StackedConfig
from pcn.checks import at_least, at_most, one_of, positive

StepRule = Literal["adam", "natural"]


@dataclass(frozen=True, kw_only=True)
class RAConfig(StackedConfig):
    """Hyperparameters of RA; a benchmark's entry may set a few differently."""

    intervals: int | None = None
    """Intervals between two corners of the simplex of weights; must be given beyond 5 objectives.

    By default 12, 11, 10 and 9 for 2 to 5 objectives: 13, 78, 286 and 715 policies (authors)."""

    episodes_per_update: int = 16
    """Episodes of each policy between two of its updates (authors: 1)."""
    horizon: int | None = None
    """Training episodes are broken off after this many steps, with what they returned until then.

    Without time pressure policies wander to the step limit, and few updates fit the budget."""
    step_rule: StepRule = "adam"
    """Adam (authors), or natural gradients of bounded divergence (Parisi's toolbox)."""
    learning_rate: float = 0.1
    """Adam step size (authors: 1e-3, with one episode per update)."""
    kl_bound: float = 0.01
    """Divergence of a policy's actions from those before a natural step, in nats."""
    conjugate_steps: int = 10
    """Steps of the conjugate gradients that a natural step is found with."""
    damping: float = 1e-3
    """Added to the diagonal of the Fisher matrix of a natural step."""
    smoothing: float = 0.9
    """How much of earlier gradients, and ranges of returns, stays in their running means."""
    entropy_bonus: float = 0.1
    """Weight of the policy's entropy at first; it falls until it is as negative (authors: 0).

    Indecision explores at first, and must be gone by the end, when policies act greedily."""
    stationarity_tolerance: float = 0.01
    """A policy stops where the shortest mixture of its objectives' unit gradients is below this."""
    entropy_tolerance: float = 0.01
    """A policy stops where its entropy is below this share of the largest possible."""
    stop_after: int = 10
    """Updates in a row that must find a policy finished before it stops: gradients are noisy."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, 1, "conjugate_steps", "stop_after")
        at_least(self, 2, "episodes_per_update")
        at_least(
            self, 0, "entropy_bonus", "stationarity_tolerance", "entropy_tolerance", "smoothing"
        )
        at_least(self, 0, "damping")
        at_most(self, 0.999, "smoothing")
        positive(self, "learning_rate", "kl_bound")
        one_of(self, "step_rule", get_args(StepRule))
        for name, least in (("intervals", 1), ("horizon", 1)):
            if getattr(self, name) is not None:
                at_least(self, least, name)
