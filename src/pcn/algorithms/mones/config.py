"""Hyperparameters of MONES."""

from dataclasses import dataclass
from typing import Literal, get_args

from pcn.algorithms.stacked.config import StackedConfig
from pcn.checks import at_least, at_most, one_of, positive

Covariance = Literal["diagonal", "full"]
Fitness = Literal["auto", "hypervolume", "crowding"]


@dataclass(frozen=True, kw_only=True)
class MONESConfig(StackedConfig):
    """Hyperparameters of MONES; a benchmark's entry may set a few differently."""

    covariance: Covariance = "diagonal"
    """Independent weights (authors), or a full covariance (toolbox), for few weights only."""
    most_weights: int = 500
    """Weights up to which a full covariance is allowed."""
    initial_deviation: float = 1.0
    """Standard deviation of every weight before the first generation."""
    population: int = 50
    """Policies drawn and run in each generation (authors: 50 on Deep Sea Treasure)."""
    pool_generations: int = 5
    """Generations whose draws are used, by importance sampling (toolbox: 5; authors: 1)."""
    fitness: Fitness = "auto"
    """`hypervolume` contributions, `crowding` distances, or by the number of objectives."""
    most_hypervolume_objectives: int = 4
    """Up to how many objectives `auto` takes the hypervolume; beyond, it takes too long."""
    kl_bound: float = 0.1
    """Divergence of a generation's distribution from the one before, in nats (toolbox: 0.1)."""
    initial_sharpness: float | None = 1.0
    """Factor on the logits that the first draws sample from; it grows until they are greedy.

    None: every draw always takes its first choice (authors)."""
    patience: float | None = 4.0
    """Draws are broken off after this many times the longest episode of the pool's front.

    Not in every tenth generation, nor in the first (paper: never)."""
    exempt_share: float = 0.1
    """Share of generations whose episodes may go on to the step limit."""
    sharpening_share: float = 0.5
    """Share of the budget after which draws always take their first choice."""
    most_sharpening: float = 30.0
    """How much sharper draws have become by then."""
    episodes_per_draw: int = 1
    """Episodes that each draw is judged by; more only help where outcomes are random."""

    final_draws: int = 200
    """Policies drawn and run after training, of which the non-dominated are kept (toolbox: 200)."""
    final_share: float = 0.25
    """Share of the budget that the final draws may take, unless one episode of each takes more."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, 1, "most_weights", "pool_generations", "episodes_per_draw", "final_draws")
        at_least(self, 2, "population")
        at_least(self, 0, "exempt_share", "final_share", "most_hypervolume_objectives")
        at_most(self, 1, "exempt_share", "final_share")
        positive(self, "initial_deviation", "kl_bound", "sharpening_share", "most_sharpening")
        if self.initial_sharpness is not None:
            positive(self, "initial_sharpness")
        if self.patience is not None:
            at_least(self, 1, "patience")
        one_of(self, "covariance", get_args(Covariance))
        one_of(self, "fitness", get_args(Fitness))
