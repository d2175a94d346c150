"""The hyperparameters of PCN itself: those of the paper's section 4, with no refinement."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from jaxtyping import Float

from pcn.algorithms.config import AlgorithmConfig
from pcn.checks import at_least, at_most, finite_numbers, one_of, positive
from pcn.errors import UserError
from pcn.nets.heads import DEFAULT_HEAD, ContinuousHead
from pcn.nets.policy import Gate
from pcn.pareto import ORDERS, AbstractOrder

SampleBy = Literal["transition", "episode"]
DominanceScaling = Literal["none", "seen"]

ORDER_OPTIONS = {
    "dominance_lambda": ("lambda-lorenz", "weight"),
    "dominance_slack": ("stochastic", "slack"),
}
"""Of which order, and of which of its fields, a hyperparameter is the value."""


@dataclass(frozen=True, kw_only=True)
class CoreConfig(AlgorithmConfig):
    """What the core loop reads. Values in brackets are the paper's or the authors' code's."""

    width: int = 64
    """Size of both embeddings and of the hidden layers (paper: 64)."""
    hidden_layers: int = 2
    """Layers between the gated embedding and the logits (paper: 1; authors on grids: 0)."""
    gate: Gate = "film"
    """How the command acts on the state: relu(state) * (1 + command), or the paper's `sigmoid`."""
    embedding: str | None = None
    """Your own state embedding, `module:Class`: called as Class(space, width, key=key)."""
    joint_one_hot: bool = False
    """Give every combination of integer observations its own row (authors: Deep Sea Treasure)."""
    continuous_head: ContinuousHead = DEFAULT_HEAD
    """How real numbers are chosen as actions: among `levels`, by a Gaussian in each of several
    `bins`, or by one `gaussian` (authors: the mean alone)."""
    action_levels: int | None = None
    """Levels or bins of each of these numbers; if not given 11, or 21 where there is only one.
    Recipes may give more."""
    command_scale: tuple[float, ...] | None = None
    """Factor on each desired return and on the horizon; found from the data when not given."""
    command_spread: float = 10.0
    """Range that an automatic scale gives to each part of the front's commands."""
    command_spread_change: float = 2.0
    """An automatic scale and tolerances follow the data once the range changes by this factor."""

    learning_rate: float = 3e-3
    """Adam step size (authors: 1e-2 on grids, 1e-3 elsewhere)."""
    batch_size: int = 256
    """Transitions in one update (authors: 256)."""
    updates_per_episode: float = 0.25
    """Where outcomes are certain: updates for as many steps as an episode of the warm-up had. More
    make exploration follow the first finds; consolidation learns the rest at the end."""
    updates_per_step: float = 0.2
    """Updates for each environment step that an iteration brings, where outcomes are stochastic."""
    fewest_updates: int = 1_000
    """Updates of the whole training at least: where episodes are long there are few of them."""
    most_updates: int = 40_000
    """Updates of the whole training at most: with a large budget each step brings fewer."""
    updates_per_iteration: int | None = None
    """A fixed number of updates instead (authors: 10 on grids, 50 elsewhere)."""
    logged_updates: int = 10_000
    """Updates on logged episodes before anything else, where training begins from a dataset."""
    archive_fraction: float | None = None
    """Share of each batch drawn from non-dominated episodes only (paper: 0); if not given, a
    quarter, or half where outcomes are stochastic."""
    sample_by: SampleBy = "transition"
    """Draw all stored steps equally often (paper), or all stored episodes (authors)."""

    warmup_episodes: int = 50
    """Random episodes before the first update (authors: 50)."""
    warmup_share: float = 0.1
    """Most of the steps that these random episodes may take, as a share of all steps."""
    iterations: int = 40
    """How many iterations the budget should hold; the episodes in each follow from it."""
    stochastic_iterations: int = 150
    """The same where outcomes are stochastic."""
    episodes_per_iteration: int | None = None
    """A fixed number of episodes between two rounds of updates instead (authors: 10)."""
    shared_command: bool = False
    """One command for all episodes of an iteration (authors), or one each."""
    command_candidates: int | None = None
    """Choose commands among so many stored episodes of highest score, dominated ones included (the
    authors' code: 20 or 50); if not given, among the non-dominated ones (paper)."""
    bounded_first_command: bool = True
    """Whether `bounded_commands` holds for the first command of exploring episodes, too (authors:
    only for the later ones)."""
    horizon_offset: int = 0
    """Added to the stored horizon when exploring (authors: -2)."""
    action_noise: float = 0.5
    """Each exploring episode acts at random with probability `action_noise * u^n` (paper: 0)."""
    action_noise_exponent: float = 2.0
    """The exponent n of the uniform number u in `action_noise`: larger means less noise."""

    capacity: int = 200
    """Episodes kept after each pruning (authors: 200 for Deep Sea Treasure)."""
    crowded_below: float = 0.2
    """Crowding distance up to which an episode counts as crowded (Eq. 7)."""
    duplicate_penalty: float = 1e-5
    """The constant c of Eq. (7) (authors: 1e-5)."""
    dominance: str = "pareto"
    """Which returns are better: `pareto` (paper), `lorenz` and `lambda-lorenz` (fair ones, for
    objectives of one unit), or `stochastic` (by distributions, where outcomes are stochastic)."""
    dominance_lambda: float | None = None
    """Of `lambda-lorenz`: 0 is Lorenz dominance, 1 that of sorted returns; 0.5 if not given."""
    dominance_slack: float | None = None
    """Of `stochastic`: probabilities that differ by no more are equal; 0.05 if not given."""
    dominance_scaling: DominanceScaling = "none"
    """`seen` makes objectives of different units comparable: as shares of the range seen."""
    newcomers_stay: bool = False
    """Prune the older episodes to make room for new ones, which so stay for an iteration whatever
    their score (authors); otherwise all are pruned together."""
    normalised_distance: bool = True
    """Measure Eq. (6) in the spread of stored returns, objective by objective (paper: not)."""
    evaluation_share: float = 0.1
    """Most of the steps that evaluations during training may take, as a share of all steps."""
    ending_share: float = 0.3
    """Most of the steps that are kept for the end: to fit, compare and execute the policies."""
    ending_executions: int = 3
    """Where outcomes are certain: so many executions of all commands are kept for the end."""

    before: ClassVar[Mapping[str, Any]] = {"normalised_distance": False, "warmup_share": 1.0}

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(
            self, 1, "width", "batch_size", "updates_per_iteration", "warmup_episodes",
            "episodes_per_iteration", "capacity", "command_spread_change", "iterations",
            "most_updates", "ending_executions", "stochastic_iterations", "command_candidates",
        )  # fmt: skip
        at_least(
            self, 0, "hidden_layers", "archive_fraction", "action_noise", "action_noise_exponent",
            "crowded_below", "duplicate_penalty", "evaluation_share", "updates_per_step",
            "updates_per_episode", "fewest_updates", "logged_updates", "warmup_share",
            "ending_share",
        )  # fmt: skip
        at_most(self, 1, "archive_fraction", "action_noise", "warmup_share")
        at_most(self, 0.9, "ending_share")
        at_most(self, 10**9, "updates_per_iteration")
        positive(self, "learning_rate", "command_spread")
        at_least(self, 2, "action_levels")
        one_of(self, "gate", get_args(Gate))
        one_of(self, "continuous_head", get_args(ContinuousHead))
        one_of(self, "sample_by", get_args(SampleBy))
        one_of(self, "dominance", tuple(ORDERS))
        one_of(self, "dominance_scaling", get_args(DominanceScaling))
        at_least(self, 0, *ORDER_OPTIONS)
        at_most(self, 1, *ORDER_OPTIONS)
        for option, (order, _) in ORDER_OPTIONS.items():
            if getattr(self, option) is not None and self.dominance != order:
                raise UserError(f"{option} belongs to {order}, and dominance is {self.dominance}")
        if self.dominance_scaling != "none" and not self.order.needs_one_unit:
            raise UserError(
                f"dominance_scaling is for objectives that are compared with one another, and "
                f"{self.dominance} compares none"
            )
        finite_numbers(self, "command_scale")
        if self.command_scale is not None and min(self.command_scale, default=0) <= 0:
            raise UserError(f"command_scale must be positive, got {self.command_scale}")

    @property
    def order(self) -> AbstractOrder:
        """What makes a return better than another one, before any scaling."""
        fields = {
            field: getattr(self, option)
            for option, (order, field) in ORDER_OPTIONS.items()
            if order == self.dominance and getattr(self, option) is not None
        }
        return ORDERS[self.dominance](**fields)

    @property
    def execution_batch(self) -> int:
        """Episodes of one batch of executions."""
        return self.episodes_per_iteration or 64

    def command_scale_for(
        self, ranges: Float[np.ndarray, " command"]
    ) -> Float[np.ndarray, " command"]:
        """The factor on each part of commands with these ranges: as configured, or automatic."""
        if self.command_scale is not None:
            return np.asarray(self.command_scale, dtype=np.float64)
        return self.command_spread / np.where(ranges > 0, ranges, 1.0)

    def batch_counts(self, *, deterministic: bool) -> tuple[int, ...]:
        """How many transitions of a batch come from the whole dataset and from the archive."""
        fraction = self.archive_fraction
        if fraction is None:
            fraction = 0.25 if deterministic else 0.5
        from_archive = round(fraction * self.batch_size)
        if from_archive == 0:
            return (self.batch_size,)
        return (self.batch_size - from_archive, from_archive)
