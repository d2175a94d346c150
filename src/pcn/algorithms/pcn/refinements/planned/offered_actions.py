"""Offered actions: those that a fitted model plans with, and what they are to an action head."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num

from pcn.nets.heads import AbstractActionHead, LevelsHead


@dataclass(frozen=True, eq=False)
class OfferedActions:
    """All actions of a head, or some levels where an action is an amount: a single real number."""

    head: AbstractActionHead
    numbers: Int[np.ndarray, " offered"]
    """Which of all actions each one is, in increasing order."""
    are_amounts: bool
    """Whether neighbours do about the same."""

    @classmethod
    def of(cls, head: AbstractActionHead, most: int) -> "OfferedActions":
        """All actions; of the levels of an amount at most so many, both bounds included."""
        assert head.option_sizes is not None
        count = math.prod(head.option_sizes)
        amounts = isinstance(head, LevelsHead) and len(head.option_sizes) == 1 and count > 2
        offered = min(count, max(most, 2)) if amounts else count
        numbers = np.linspace(0, count - 1, offered).round().astype(np.int64)
        return cls(head, numbers, amounts)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many options each part of an action has."""
        assert self.head.option_sizes is not None
        return self.head.option_sizes

    @property
    def features(self) -> Float[np.ndarray, "action feature"]:
        """Every action of the head as numbers: amounts from -1 to 1, others one number for each."""
        count = math.prod(self.sizes)
        return np.linspace(-1.0, 1.0, count)[:, None] if self.are_amounts else np.eye(count)

    @property
    def are_all_there_is(self) -> bool:
        """Whether an option is a whole action: the head learns nothing but one choice."""
        return self.sizes == (self.head.num_outputs,)

    def rows(self, offered: Int[np.ndarray, " step"]) -> Num[np.ndarray, "step part"]:
        """Offered actions as the head's rows."""
        options = np.unravel_index(self.numbers[offered], self.sizes)
        return self.head.from_options(np.stack(options, axis=-1).astype(np.int32))

    def nearest(self, rows: Num[np.ndarray, "step part"]) -> Int[np.ndarray, " step"]:
        """The offered actions that are nearest to the head's rows."""
        numbers = np.ravel_multi_index(tuple(self.head.to_options(rows).T), self.sizes)
        middles = (self.numbers[1:] + self.numbers[:-1]) / 2
        return np.searchsorted(middles, numbers)

    def for_all(
        self, offered: Float[np.ndarray, "step offered"]
    ) -> Float[np.ndarray, "step action"]:
        """Numbers of offered actions as numbers of all actions, interpolated between levels."""
        every = np.arange(math.prod(self.sizes))
        right = np.clip(np.searchsorted(self.numbers, every), 1, len(self.numbers) - 1)
        left = right - 1
        share = (every - self.numbers[left]) / (self.numbers[right] - self.numbers[left])
        return offered[:, left] * (1 - share) + offered[:, right] * share
