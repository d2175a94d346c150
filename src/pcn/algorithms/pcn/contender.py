"""Contenders: networks under commands, among which the end of a training chooses."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

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
    down by one with each step either way. A policy with expectations deducts what it expects."""
    expected: Float[np.ndarray, "command objective"] | None = None
    """What a model says each command returns, if executions have confirmed the model.

    Such commands need no race: they are offered as widely as the steps allow, first come first."""
    expected_steps: Float[np.ndarray, " command"] | None = None
    """How many steps it says they take."""

    def __len__(self) -> int:
        return len(self.horizons)

    def bounded(self, bound: Float[np.ndarray, " objective"]) -> Float[np.ndarray, " objective"]:
        """The largest desired return while acting: `bound`, or none for fixed commands."""
        return bound if self.follows_rewards else np.full_like(bound, np.inf)


@dataclass(frozen=True)
class Entries:
    """Commands of several contenders, one after the other: one policy for each of them."""

    contenders: tuple[Contender, ...]
    network: Int[np.ndarray, " command"]
    """Whose command it is, by place among the contenders."""
    desired_returns: Float[np.ndarray, "command objective"]
    horizons: Float[np.ndarray, " command"]

    @classmethod
    def of(cls, contenders: Sequence[Contender]) -> "Entries":
        """All commands of all contenders."""
        return cls(
            tuple(contenders),
            np.repeat(np.arange(len(contenders)), [len(one) for one in contenders]),
            np.concatenate([one.desired_returns for one in contenders]),
            np.concatenate([one.horizons for one in contenders]),
        )

    def __len__(self) -> int:
        return len(self.horizons)

    def confirmed_mask(self) -> Bool[np.ndarray, " command"]:
        """Mark the commands of models that executions have confirmed; they need no race."""
        known = np.array([one.expected is not None for one in self.contenders])
        return np.asarray(known[self.network])

    def expected(self) -> Float[np.ndarray, "confirmed objective"]:
        """What confirmed models say that their commands return."""
        return np.concatenate([one.expected for one in self.contenders if one.expected is not None])

    def expected_steps(self) -> Float[np.ndarray, " confirmed"]:
        """How many steps they say that these take."""
        steps = [
            one.horizons if one.expected_steps is None else one.expected_steps
            for one in self.contenders
            if one.expected is not None
        ]
        return np.concatenate(steps)

    def taking(self, index: Int[np.ndarray, " kept"]) -> "Entries":
        """The commands at `index`; contenders without any are left out."""
        kept = np.unique(self.network[index])
        return Entries(
            tuple(self.contenders[one] for one in kept),
            np.searchsorted(kept, self.network[index]),
            self.desired_returns[index],
            self.horizons[index],
        )


class AbstractFitting(ABC):
    """A contender that is being fitted, a little in each iteration."""

    name: str = "contender"
    """What `metrics.json` calls it."""
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
