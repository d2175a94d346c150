"""Hyperparameters of PCN and the three presets."""

from dataclasses import dataclass
from typing import Literal, get_args

from pcn.algorithms.config import AlgorithmConfig
from pcn.checks import at_least, at_most, finite_numbers, one_of, positive
from pcn.errors import UserError
from pcn.nets.policy import Gate

SampleBy = Literal["transition", "episode"]


@dataclass(frozen=True, kw_only=True)
class PCNConfig(AlgorithmConfig):
    """Hyperparameters of PCN; a benchmark's entry may set a few differently."""

    width: int = 64
    """Size of both embeddings and of the hidden layers (paper: 64)."""
    hidden_layers: int = 2
    """Layers between the gated embedding and the logits (paper: 1; authors on grids: 0)."""
    gate: Gate = "film"
    """How the command acts on the state: relu(state) * (1 + command), or the paper's `sigmoid`."""
    standardise: bool = True
    """Shift and scale real observations by the first episodes' mean and deviation (paper: no)."""
    embedding: str | None = None
    """Your own state embedding, `module:Class`: called as Class(space, width, key=key)."""
    joint_one_hot: bool = False
    """Give every combination of integer observations its own row (authors: Deep Sea Treasure)."""
    command_scale: tuple[float, ...] | None = None
    """Factor on each desired return and on the horizon; found from the data when not given."""
    command_spread: float = 10.0
    """Range that an automatic scale gives to each part of the front's commands."""
    upper_bound: tuple[float, ...] | None = None
    """Largest desired return while acting (authors); found from the data when not given."""
    bound_commands: bool = True
    """Whether desired returns are kept below the upper bound at all (paper: no)."""

    learning_rate: float = 3e-3
    """Adam step size (authors: 1e-2 on grids, 1e-3 elsewhere)."""
    batch_size: int = 256
    """Transitions in one update (authors: 256)."""
    updates_per_iteration: int = 16
    """Updates between two rounds of episodes (authors: 10 on grids, 50 elsewhere)."""
    archive_fraction: float = 0.25
    """Share of each batch drawn from non-dominated episodes only (paper: 0)."""
    sample_by: SampleBy = "transition"
    """Draw all stored steps equally often (paper), or all stored episodes (authors)."""

    warmup_episodes: int = 50
    """Random episodes before the first update (authors: 50)."""
    sticky_actions: bool = True
    """Random actions are repeated for a while, differently long per episode (paper: no)."""
    warmup_front: int = 3
    """Warm-up goes on until this many non-dominated returns are known (paper: 0)."""
    episodes_per_iteration: int = 64
    """Episodes collected between two rounds of updates (authors: 10)."""
    shared_command: bool = False
    """One command for all episodes of an iteration (authors), or one each."""
    horizon_offset: int = 0
    """Added to the stored horizon when exploring (authors: -2)."""
    action_noise: float = 0.5
    """Each exploring episode acts at random with probability `action_noise * u^2` (paper: 0)."""
    patience: float | None = 4.0
    """Exploring episodes are broken off after this many times the longest desired horizon.

    Not in all iterations: in hardly any at first, in nine of ten at the end (paper: never)."""
    erase_loops: bool = True
    """Whether episodes that pay without their detours join without them too (paper: no).

    Only in deterministic environments, and only after a replay has confirmed it."""

    variations: bool = True
    """Whether each iteration also replays front episodes with a few actions changed (paper: no).

    Only in deterministic environments; those that add to the front are stored."""

    capacity: int = 200
    """Episodes kept after each pruning (authors: 200 for Deep Sea Treasure)."""
    crowded_below: float = 0.2
    """Crowding distance up to which an episode counts as crowded (Eq. 7)."""
    duplicate_penalty: float = 1e-5
    """The constant c of Eq. (7) (authors: 1e-5)."""

    store_evaluations: bool = True
    """Whether executed episodes join the dataset (paper: no)."""
    consolidation_updates: int = 20_000
    """Most updates spent on making the front executable after training (paper: 0)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(
            self, 1, "width", "batch_size", "updates_per_iteration", "warmup_episodes",
            "episodes_per_iteration", "capacity",
        )  # fmt: skip
        at_least(
            self, 0, "hidden_layers", "archive_fraction", "warmup_front", "action_noise",
            "crowded_below", "duplicate_penalty", "consolidation_updates",
        )  # fmt: skip
        at_most(self, 1, "archive_fraction", "action_noise")
        positive(self, "learning_rate", "command_spread")
        one_of(self, "gate", get_args(Gate))
        one_of(self, "sample_by", get_args(SampleBy))
        if self.patience is not None:
            at_least(self, 1, "patience")
        finite_numbers(self, "command_scale", "upper_bound")
        if self.command_scale is not None and min(self.command_scale, default=0) <= 0:
            raise UserError(f"command_scale must be positive, got {self.command_scale}")

    @property
    def batch_counts(self) -> tuple[int, ...]:
        """How many transitions of a batch come from the whole dataset and from the archive."""
        from_archive = round(self.archive_fraction * self.batch_size)
        if from_archive == 0:
            return (self.batch_size,)
        return (self.batch_size - from_archive, from_archive)


PRESETS: dict[str, dict[str, object]] = {
    "default": {},
    "paper": {
        "gate": "sigmoid",
        "hidden_layers": 1,
        "learning_rate": 1e-2,
        "archive_fraction": 0.0,
        "sticky_actions": False,
        "warmup_front": 0,
        "episodes_per_iteration": 10,
        "updates_per_iteration": 10,
        "shared_command": True,
        "action_noise": 0.0,
        "patience": None,
        "erase_loops": False,
        "variations": False,
        "bound_commands": False,
        "standardise": False,
        "store_evaluations": False,
        "consolidation_updates": 0,
    },
    "authors": {
        "gate": "sigmoid",
        "hidden_layers": 1,
        "learning_rate": 1e-2,
        "archive_fraction": 0.0,
        "sample_by": "episode",
        "sticky_actions": False,
        "warmup_front": 0,
        "episodes_per_iteration": 10,
        "updates_per_iteration": 10,
        "shared_command": True,
        "horizon_offset": -2,
        "standardise": False,
        "action_noise": 0.0,
        "patience": None,
        "erase_loops": False,
        "variations": False,
        "store_evaluations": False,
        "consolidation_updates": 0,
    },
}
"""What each preset sets differently from the defaults above."""
