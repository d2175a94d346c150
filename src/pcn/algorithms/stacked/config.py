"""The hyperparameters of all algorithms that end in a stack of plain policies."""

from dataclasses import dataclass

from pcn.algorithms.config import AlgorithmConfig
from pcn.checks import at_least


@dataclass(frozen=True, kw_only=True)
class StackedConfig(AlgorithmConfig):
    """What MONES and RA share: the shape of a policy and how it reads observations."""

    width: int | None = None
    """Hidden tanh units, 0 for a linear policy; by default 0 on integers and 48 elsewhere."""
    standardise: bool = True
    """Shift and scale real observations by the mean and deviation of random episodes."""
    standardise_episodes: int = 16
    """The number of these random episodes."""
    joint_one_hot: bool = False
    """Give every combination of integer observations its own row."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, 1, "standardise_episodes")
        if self.width is not None:
            at_least(self, 0, "width")
