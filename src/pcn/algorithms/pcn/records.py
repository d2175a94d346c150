"""What is kept of stored episodes besides what training reads: enough to log them as they were."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from jaxtyping import Int

from pcn.envs.observations import empty_observations
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.serialisation.arrays import named_arrays

NAME = "records"


class Records:
    """Rewards, ends and last observations of the episodes in each slot of the store, on the host.

    The store holds returns-to-go; rewards that are computed from them would be rounded.
    """

    def __init__(self, spec: EnvironmentSpec, num_slots: int) -> None:
        self.rewards = np.zeros((num_slots, spec.step_limit, spec.num_objectives), np.float32)
        self.terminated = np.zeros(num_slots, bool)
        self.last_known = np.zeros(num_slots, bool)
        """Whether the last observation is known."""
        self.last_observations = empty_observations(spec.observation_space, (num_slots,))

    def write(
        self, episodes: Episodes, index: Int[np.ndarray, " new"], slots: Int[np.ndarray, " new"]
    ) -> None:
        """Keep the episodes at `index` in these slots."""
        rewards = np.asarray(episodes.rewards)[index]
        self.rewards[slots] = 0
        self.rewards[slots, : rewards.shape[1]] = rewards
        self.terminated[slots] = np.asarray(episodes.terminated)[index]
        self.last_known[slots] = episodes.last_observations is not None
        if episodes.last_observations is not None:

            def put(kept: np.ndarray, leaf: Any) -> None:
                kept[slots] = np.asarray(leaf)[index]

            jax.tree.map(put, self.last_observations, episodes.last_observations)

    def to_arrays(self, slots: Int[np.ndarray, " slot"], longest: int) -> dict[str, np.ndarray]:
        """What is kept of some slots, as named arrays."""
        last = named_arrays(self.last_observations, f"{NAME}.last_observations")
        return {
            f"{NAME}.rewards": self.rewards[slots, :longest],
            f"{NAME}.terminated": self.terminated[slots],
            f"{NAME}.last_known": self.last_known[slots],
            **{name: leaf[slots] for name, leaf in last.items()},
        }

    def from_arrays(self, arrays: Mapping[str, np.ndarray], num_rows: int) -> None:
        """Take over what `to_arrays` gave, into the first slots; older checkpoints have none."""
        if f"{NAME}.rewards" not in arrays:
            return
        rewards = arrays[f"{NAME}.rewards"]
        self.rewards[:num_rows, : rewards.shape[1]] = rewards
        self.terminated[:num_rows] = arrays[f"{NAME}.terminated"]
        self.last_known[:num_rows] = arrays[f"{NAME}.last_known"]
        for name, leaf in named_arrays(self.last_observations, f"{NAME}.last_observations").items():
            leaf[:num_rows] = arrays[name]
