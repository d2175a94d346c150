"""Hyperparameters of RA."""

from dataclasses import dataclass
from typing import Literal, get_args

from pcn.checks import at_least, one_of, positive, share

StepRule = Literal["adam", "natural"]


@dataclass(frozen=True, kw_only=True)
class RAConfig:
    """Hyperparameters of RA; a benchmark's entry may set a few differently."""

    total_steps: int = 100_000
    """Environment steps of all directions together, evaluations included."""
    discount: float = 1.0
    """Weight of a reward one step later; the paper's experiments do not discount."""
    intervals: int | None = None
    """Intervals between two corners of the simplex of weights; must be given beyond 5 objectives.

    By default 12, 11, 10 and 9 for 2 to 5 objectives: 13, 78, 286 and 715 policies (authors)."""

    width: int | None = None
    """Hidden tanh units, 0 for a linear policy; by default 0 on integers and 48 elsewhere."""
    standardise: bool = True
    """Shift and scale real observations by the mean and deviation of random episodes."""
    joint_one_hot: bool = False
    """Give every combination of integer observations its own row."""

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
    entropy_bonus: float = 0.1
    """Weight of the policy's entropy at first; it falls until it is as negative (authors: 0).

    Indecision explores at first, and must be gone by the end, when policies act greedily."""
    stationarity_tolerance: float = 0.01
    """A policy stops where the shortest mixture of its objectives' unit gradients is below this."""
    entropy_tolerance: float = 0.01
    """A policy stops where its entropy is below this share of the largest possible."""

    return_tolerance: float = 1e-3
    """Returns closer than this count as equal."""
    evaluations: int = 20
    """How often during training the policies are executed greedily and logged."""
    executions: int = 20
    """Episodes per policy when a stochastic environment is evaluated."""

    def __post_init__(self) -> None:
        at_least(self, 1, "total_steps", "executions")
        at_least(self, 2, "episodes_per_update")
        at_least(
            self, 0, "entropy_bonus", "stationarity_tolerance", "entropy_tolerance",
            "return_tolerance", "evaluations",
        )  # fmt: skip
        positive(self, "learning_rate", "kl_bound")
        share(self, "discount")
        one_of(self, "step_rule", get_args(StepRule))
        for name, least in (("intervals", 1), ("horizon", 1), ("width", 0)):
            if getattr(self, name) is not None:
                at_least(self, least, name)
