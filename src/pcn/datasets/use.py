"""How a training uses logged episodes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pcn.datasets.logged import LoggedEpisodes

Interaction = Literal["train", "execute", "none"]
"""The role of the environment: `train` to interact, `execute` only for the final policies, `none`
if there is no environment."""


@dataclass(frozen=True)
class LoggedData:
    """Episodes to begin with, and what happens after them."""

    read: Callable[[], LoggedEpisodes]
    """Reads the episodes; called once, when training begins."""
    interaction: Interaction = "train"

    @property
    def explores(self) -> bool:
        """Whether training goes on in the environment."""
        return self.interaction == "train"
