"""The results of executing policies, and a random key for each batch of episodes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int, UInt32

from pcn.episodes import Episodes
from pcn.single_returns import SingleReturns


@dataclass(frozen=True, eq=False)
class Execution:
    """The return of each execution of each policy or command: a table of episodes."""

    num_policies: int
    policies: Int[np.ndarray, " episode"]
    """The policy of each episode."""
    episode_returns: Float[np.ndarray, "episode objective"]
    lengths: Int[np.ndarray, " episode"]

    @classmethod
    def none(cls, num_policies: int, num_objectives: int) -> "Execution":
        """An empty table."""
        nothing = np.zeros(0, np.int64)
        return cls(num_policies, nothing, np.zeros((0, num_objectives)), nothing)

    @classmethod
    def of(cls, batches: Iterable[Episodes], *, executions: int, discount: float) -> "Execution":
        """A table from batches of episodes: all policies once, then all policies again, and so on.

        Padding is left out.
        """
        returns, lengths = [], []
        for episodes in batches:
            real = np.asarray(episodes.real_mask)
            returns.append(episodes.returns(discount=discount)[real])
            lengths.append(np.asarray(episodes.lengths)[real])
        return cls.of_episodes(np.concatenate(returns), np.concatenate(lengths), executions)

    @classmethod
    def of_episodes(
        cls,
        returns: Float[np.ndarray, "episode objective"],
        lengths: Int[np.ndarray, " episode"],
        executions: int,
    ) -> "Execution":
        """From the return and length of each episode, in the same order."""
        num_policies = len(returns) // executions
        policies = np.tile(np.arange(num_policies), executions)
        return cls(num_policies, policies, returns, lengths.astype(np.int64))

    def adding(
        self,
        policies: Int[np.ndarray, " new"],
        returns: Float[np.ndarray, "new objective"],
        lengths: Int[np.ndarray, " new"],
    ) -> "Execution":
        """The table with more episodes."""
        return Execution(
            self.num_policies,
            np.concatenate([self.policies, policies]),
            np.concatenate([self.episode_returns, returns]),
            np.concatenate([self.lengths, lengths.astype(np.int64)]),
        )

    def taking(self, index: Int[np.ndarray, " kept"]) -> "Execution":
        """Only the policies at `index`, in that order."""
        place = np.full(self.num_policies, -1)
        place[index] = np.arange(len(index))
        kept = place[self.policies] >= 0
        return Execution(
            len(index),
            place[self.policies[kept]],
            self.episode_returns[kept],
            self.lengths[kept],
        )

    @cached_property
    def singles(self) -> SingleReturns:
        """The return of every execution of every policy."""
        return SingleReturns.of_episodes(self.episode_returns, self.policies, self.num_policies)

    @cached_property
    def counts(self) -> Int[np.ndarray, " policy"]:
        """How often each policy was executed."""
        return np.bincount(self.policies, minlength=self.num_policies)

    @property
    def returns(self) -> Float[np.ndarray, "policy objective"]:
        """Mean over the executions of each policy."""
        return self.singles.means

    @property
    def deviation(self) -> Float[np.ndarray, "policy objective"]:
        """Standard deviation over the executions of each policy."""
        return self.singles.deviation

    @cached_property
    def horizons(self) -> Float[np.ndarray, " policy"]:
        """Mean length of each policy's episodes; zero where it was not executed."""
        total = np.bincount(self.policies, weights=self.lengths, minlength=self.num_policies)
        return total / np.maximum(self.counts, 1)

    @property
    def num_steps(self) -> int:
        """Environment steps that the executions took."""
        return int(self.lengths.sum())

    def to_arrays(self, prefix: str) -> dict[str, np.ndarray]:
        """Named arrays for a checkpoint."""
        return {
            f"{prefix}.num_policies": np.asarray(self.num_policies),
            f"{prefix}.policies": self.policies,
            f"{prefix}.episode_returns": self.episode_returns,
            f"{prefix}.lengths": self.lengths,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], prefix: str) -> "Execution":
        """Restore the arrays of `to_arrays`, or those of earlier versions, which hold means
        only."""
        if f"{prefix}.policies" not in arrays:
            returns = np.array(arrays[f"{prefix}.returns"])
            return cls.of_episodes(returns, np.array(arrays[f"{prefix}.horizons"]), 1)
        return cls(
            int(arrays[f"{prefix}.num_policies"]),
            *(
                np.array(arrays[f"{prefix}.{name}"])
                for name in ("policies", "episode_returns", "lengths")
            ),
        )


def nth_key(key: UInt32[np.ndarray, " 2"], number: int) -> UInt32[np.ndarray, " 2"]:
    """A different key for each number."""
    return key + np.asarray([number, 0], dtype=np.uint32)  # arrays wrap around
