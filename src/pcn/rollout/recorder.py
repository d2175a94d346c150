"""Records steps of Gymnasium environments as `Episodes`."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Num, PyTree

from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.memory import refuse_without_memory
from pcn.nets.heads import AbstractActionHead


class Recorder:
    """Padded arrays of episodes, filled piece by piece."""

    def __init__(
        self,
        spec: EnvironmentSpec,
        num_episodes: int,
        observations: PyTree[np.ndarray],
        count: int,
        action_head: AbstractActionHead,
    ) -> None:
        """Room for `num_episodes`, of which the first `count` will be played.

        `observations` are any in the shape of those of several slots.
        """
        seen = sum(leaf[0].nbytes for leaf in jax.tree.leaves(observations))
        refuse_without_memory(
            2 * num_episodes * spec.step_limit * seen,  # with the copy that JAX gets
            f"{num_episodes} episodes of {spec.name} with up to {spec.step_limit:,} observations "
            f"of {seen:,} bytes",
            "make observations smaller in a wrapper, give a lower --step-limit, or fewer "
            "episodes at once",
        )

        def room(shape: tuple[int, ...], kind: Any) -> np.ndarray:
            return np.zeros((num_episodes, spec.step_limit, *shape), kind)

        self._observations = jax.tree.map(
            lambda leaf: room(leaf.shape[1:], leaf.dtype), observations
        )
        self._actions = room((action_head.num_parts,), action_head.dtype)
        self._rewards = room((spec.num_objectives,), np.float32)
        self._masks = room((action_head.mask_size,), bool) if spec.masked_actions else None
        self._records = jax.tree.leaves(
            (self._actions, self._rewards, self._observations, self._masks)
        )
        self._last_observations = jax.tree.map(
            lambda leaf: np.zeros((num_episodes, *leaf.shape[1:]), leaf.dtype), observations
        )
        self._last_leaves = jax.tree.leaves(self._last_observations)
        self._real_mask = np.arange(num_episodes) < count
        self._lengths = np.zeros(num_episodes, dtype=np.int32)
        self._step_limit = spec.step_limit
        self._terminated = np.zeros(num_episodes, dtype=bool)
        self._broken_off = np.zeros(num_episodes, dtype=bool)

    def write(
        self,
        episode: int,
        first: int,
        actions: Num[np.ndarray, "time part"],
        rewards: Float[np.ndarray, "time objective"],
        seen: list[np.ndarray],
    ) -> None:
        """Record some steps of an episode in a row, of which `first` were taken before.

        `seen` are the leaves of the observations, and the masks if there are any.
        """
        steps = slice(first, first + len(actions))
        for record, row in zip(self._records, (actions, rewards, *seen), strict=True):
            record[episode, steps] = row

    def add_episode(
        self,
        episode: int,
        observations: PyTree[np.ndarray],
        masks: Bool[np.ndarray, "time choice"] | None,
        actions: Num[np.ndarray, "time part"],
        rewards: Float[np.ndarray, "time objective"],
        last_observation: PyTree[np.ndarray],
        *,
        terminated: bool,
        truncated: bool,
    ) -> None:
        """Record a whole episode."""
        self.write(episode, 0, actions, rewards, jax.tree.leaves((observations, masks)))
        last = jax.tree.leaves(last_observation)
        self.end(episode, len(actions), last, terminated=terminated, truncated=truncated)

    def end(
        self,
        episode: int,
        length: int,
        last_observation: list[Any],
        *,
        terminated: bool,
        truncated: bool,
    ) -> None:
        """Record the end of an episode; it was broken off if it has not ended by itself."""
        for last, leaf in zip(self._last_leaves, last_observation, strict=True):
            last[episode] = leaf
        self._lengths[episode] = length
        self._terminated[episode] = terminated
        self._broken_off[episode] = not (terminated or truncated) and length < self._step_limit

    def episodes(self) -> Episodes:
        """All recorded episodes, on the host: JAX would compile a copy for each shape."""
        return Episodes(
            self._observations,
            self._actions,
            self._rewards,
            self._lengths,
            self._terminated,
            action_masks=self._masks,
            broken_off=self._broken_off,
            real_mask=self._real_mask,
            last_observations=self._last_observations,
        )
