"""What executing policies gave, and a random key for each batch of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt32

from pcn.episodes import Episodes


@dataclass(frozen=True)
class Execution:
    """What each policy, or each command, returned when it was executed."""

    returns: Float[np.ndarray, "policy objective"]
    """Mean over its executions."""
    deviation: Float[np.ndarray, "policy objective"]
    horizons: Float[np.ndarray, " policy"]
    """Mean length of its episodes."""
    num_steps: int
    """Environment steps that the executions took."""

    @classmethod
    def of(cls, batches: Iterable[Episodes], *, executions: int, discount: float) -> "Execution":
        """From batches of episodes: all policies once, then all policies once more, and so on.

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
        by_execution = returns.reshape(executions, -1, returns.shape[-1])
        taken = lengths.reshape(executions, -1)
        return cls(
            returns=by_execution.mean(axis=0),
            deviation=by_execution.std(axis=0),
            horizons=taken.mean(axis=0),
            num_steps=int(taken.sum()),
        )

    def to_arrays(self, prefix: str) -> dict[str, np.ndarray]:
        """As named arrays, for a checkpoint."""
        return {f"{prefix}.{name}": np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], prefix: str) -> "Execution":
        """As `to_arrays` gave it."""
        values = {
            name: np.array(arrays[f"{prefix}.{name}"])
            for name in ("returns", "deviation", "horizons")
        }
        return cls(**values, num_steps=int(arrays[f"{prefix}.num_steps"]))


def nth_key(key: UInt32[np.ndarray, " 2"], number: int) -> UInt32[np.ndarray, " 2"]:
    """A key of its own for each number."""
    return key + np.asarray([number, 0], dtype=np.uint32)  # arrays wrap around
