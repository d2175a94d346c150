"""Hyperparameters of MONES."""

from dataclasses import dataclass
from typing import Literal, get_args

from pcn.algorithms.mones.fitness import Fitness
from pcn.checks import at_least, one_of, positive, share

Covariance = Literal["diagonal", "full"]


@dataclass(frozen=True, kw_only=True)
class MONESConfig:
    """Hyperparameters of MONES; a benchmark's entry may set a few differently."""

    total_steps: int = 100_000
    """Environment steps, final draws included; the last generation is finished."""
    discount: float = 1.0
    """Weight of a reward one step later; the paper's experiments do not discount."""

    width: int | None = None
    """Hidden tanh units, 0 for a linear policy; by default 0 on integers and 48 elsewhere."""
    standardise: bool = True
    """Shift and scale real observations by the mean and deviation of random episodes."""
    joint_one_hot: bool = False
    """Give every combination of integer observations its own row."""

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
    kl_bound: float = 0.1
    """Divergence of a generation's distribution from the one before, in nats (toolbox: 0.1)."""
    initial_sharpness: float | None = 1.0
    """Factor on the logits that the first draws sample from; it grows until they are greedy.

    None: every draw always takes its first choice (authors)."""
    patience: float | None = 4.0
    """Draws are broken off after this many times the longest episode of the pool's front.

    Not in every tenth generation, nor in the first (paper: never)."""
    episodes_per_draw: int = 1
    """Episodes that each draw is judged by; more only help where outcomes are random."""

    final_draws: int = 200
    """Policies drawn and run after training, of which the non-dominated are kept (toolbox: 200)."""
    return_tolerance: float = 1e-3
    """Returns closer than this count as equal."""
    evaluations: int = 20
    """How often during training what a generation reaches is logged."""
    executions: int = 20
    """Episodes per policy when a stochastic environment is evaluated."""

    def __post_init__(self) -> None:
        at_least(
            self, 1, "total_steps", "most_weights", "pool_generations", "episodes_per_draw",
            "final_draws", "executions",
        )  # fmt: skip
        at_least(self, 2, "population")
        at_least(self, 0, "return_tolerance", "evaluations")
        positive(self, "initial_deviation", "kl_bound")
        share(self, "discount")
        if self.initial_sharpness is not None:
            positive(self, "initial_sharpness")
        if self.patience is not None:
            at_least(self, 1, "patience")
        if self.width is not None:
            at_least(self, 0, "width")
        one_of(self, "covariance", get_args(Covariance))
        one_of(self, "fitness", get_args(Fitness))
