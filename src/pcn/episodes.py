"""Episodes: a batch of finished episodes as padded arrays, rewards kept as rewards."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PyTree

from pcn.types import AnyArray


class Episodes(eqx.Module):
    """Finished episodes side by side; all entries after the end of an episode are zero."""

    observations: PyTree[AnyArray]
    """Each leaf [episode, time, ...]: what was observed before each action."""
    actions: Num[AnyArray, "episode time part"]
    rewards: Float[AnyArray, "episode time objective"]
    lengths: Int[AnyArray, " episode"]
    terminated: Bool[AnyArray, " episode"]
    """Whether the episode reached a terminal state. The others were truncated or broken off."""
    action_masks: Bool[AnyArray, "episode time choice"] | None
    """Which actions were allowed at each step; None where the environment has no action masks."""
    broken_off: Bool[AnyArray, " episode"]
    """Which episodes the rollout stopped before their end, to save steps."""
    real_mask: Bool[AnyArray, " episode"]
    """False for the episodes that only fill up a batch of fixed size. They cost no steps."""
    last_observations: PyTree[AnyArray] | None
    """Each leaf [episode, ...]: what was observed after the last action of each episode.

    None for episodes that were not recorded by `rollout`."""

    def __init__(
        self,
        observations: PyTree[AnyArray],
        actions: Num[AnyArray, "episode time part"],
        rewards: Float[AnyArray, "episode time objective"],
        lengths: Int[AnyArray, " episode"],
        terminated: Bool[AnyArray, " episode"],
        *,
        action_masks: Bool[AnyArray, "episode time choice"] | None = None,
        broken_off: Bool[AnyArray, " episode"] | None = None,
        real_mask: Bool[AnyArray, " episode"] | None = None,
        last_observations: PyTree[AnyArray] | None = None,
    ) -> None:
        """Without `broken_off` all episodes were finished; without `real_mask` all are real."""
        num_episodes = lengths.shape[0]
        self.observations = observations
        self.actions = actions
        self.rewards = rewards
        self.lengths = lengths
        self.terminated = terminated
        self.action_masks = action_masks
        self.broken_off = jnp.zeros(num_episodes, bool) if broken_off is None else broken_off
        self.real_mask = jnp.ones(num_episodes, bool) if real_mask is None else real_mask
        self.last_observations = last_observations

    @property
    def num_episodes(self) -> int:
        """How many rows there are, including those that only fill up the batch."""
        return self.lengths.shape[0]

    @property
    def num_steps(self) -> int:
        """Environment steps that all real episodes took together."""
        return int(np.asarray(self.lengths)[np.asarray(self.real_mask)].sum())

    @property
    def valid_mask(self) -> Bool[Array, "episode time"]:
        """True for the steps of each episode, False for the padding after its end."""
        return jnp.arange(self.rewards.shape[1])[None, :] < self.lengths[:, None]

    @property
    def ended(self) -> Bool[np.ndarray, " episode"]:
        """Which episodes terminated or were truncated; returns of the others mean nothing."""
        return ~np.asarray(self.broken_off)

    def returns(self, *, discount: float = 1.0) -> Float[np.ndarray, "episode objective"]:
        """The return of each whole episode, summed in double precision."""
        rewards = np.asarray(self.rewards, dtype=np.float64)
        if discount == 1.0:
            return rewards.sum(axis=1)
        weights = discount ** np.arange(rewards.shape[1])
        return np.einsum("eto,t->eo", rewards, weights)

    def returns_to_go(
        self, *, discount: Float[AnyArray, ""] | float
    ) -> Float[Array, "episode time objective"]:
        """The return from each step on, R_t = r_t + discount * R_{t+1} (section 4.1)."""

        def backwards(
            later: Float[Array, "episode objective"], reward: Float[Array, "episode objective"]
        ) -> tuple[Float[Array, "episode objective"], Float[Array, "episode objective"]]:
            now = reward + discount * later
            return now, now

        rewards = jnp.asarray(self.rewards)
        last = jnp.zeros_like(rewards[:, 0])
        _, by_time = jax.lax.scan(backwards, last, rewards.swapaxes(0, 1), reverse=True)
        return by_time.swapaxes(0, 1)

    def trimmed(self, num_steps: int) -> "Episodes":
        """The same episodes with less padding; none of them may be longer than `num_steps`."""

        def first(leaf: AnyArray) -> AnyArray:
            return leaf[:, :num_steps]

        return Episodes(
            jax.tree.map(first, self.observations),
            first(self.actions),
            first(self.rewards),
            self.lengths,
            self.terminated,
            action_masks=None if self.action_masks is None else first(self.action_masks),
            broken_off=self.broken_off,
            real_mask=self.real_mask,
            last_observations=self.last_observations,
        )

    def taking(self, index: Int[np.ndarray, " kept"]) -> "Episodes":
        """The episodes at `index`, in that order."""
        taken: Episodes = jax.tree.map(lambda leaf: leaf[index], self)
        return taken


def flat(observations: PyTree[AnyArray], num_axes: int) -> Float[np.ndarray, "..."]:
    """All numbers of each observation in a row; the first `num_axes` axes stay as they are."""
    leaves = [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(observations)]
    return np.concatenate([leaf.reshape(*leaf.shape[:num_axes], -1) for leaf in leaves], axis=-1)
