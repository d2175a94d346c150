"""What executing policies gave, and a random key for each batch of them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt32


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
    def of_episodes(
        cls,
        returns: list[Float[np.ndarray, "_ objective"]],
        lengths: list[Int[np.ndarray, " _"]],
        executions: int,
    ) -> "Execution":
        """From batches of episodes: all policies once, then all policies once more, ..."""
        by_execution = np.concatenate(returns)
        by_execution = by_execution.reshape(executions, -1, by_execution.shape[-1])
        taken = np.concatenate(lengths).reshape(executions, -1)
        return cls(
            returns=by_execution.mean(axis=0),
            deviation=by_execution.std(axis=0),
            horizons=taken.mean(axis=0),
            num_steps=int(taken.sum()),
        )


def nth_key(key: UInt32[np.ndarray, " 2"], number: int) -> UInt32[np.ndarray, " 2"]:
    """A key of its own for each number."""
    return key + np.asarray([number, 0], dtype=np.uint32)  # arrays wrap around
