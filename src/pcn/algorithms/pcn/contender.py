"""Contenders: networks under commands, among which the end of a training chooses."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pcn.nets.policy import ConditionedPolicy


@dataclass(frozen=True)
class Contender:
    """A network and the commands that it is executed under: one policy for each command."""

    policy: ConditionedPolicy
    desired_returns: Float[np.ndarray, "command objective"]
    horizons: Float[np.ndarray, " command"]
    follows_rewards: bool = True
    """Whether rewards are deducted from the desired return while acting.

    Otherwise the desired return stays fixed and unbounded during the episode. The horizon counts
    down by one with each step either way."""

    def __len__(self) -> int:
        return len(self.horizons)


class AbstractFitting(ABC):
    """A contender that is being fitted, a little in each iteration."""

    num_updates: int
    """Updates so far."""
    num_steps: int
    """Environment steps so far, such as those of checks."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether the contender is ready."""

    @abstractmethod
    def iterate(self) -> None:
        """Fit a little further."""

    @property
    @abstractmethod
    def contender(self) -> Contender:
        """The network as it is best so far, and its commands."""

    @abstractmethod
    def snapshot(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything needed to go on exactly here, as arrays and as facts for JSON."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        """Go back to a snapshot."""
