"""Episodes: a batch of finished episodes as padded arrays, rewards kept as rewards."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from pcn.types import AnyArray


class Episodes(eqx.Module):
    """Finished episodes side by side; what lies beyond an episode's length is zero."""

    observations: PyTree[Array]
    """Each leaf [episode, time, ...]: what was seen before each action."""
    actions: Int[Array, "episode time head"]
    rewards: Float[Array, "episode time objective"]
    lengths: Int[Array, " episode"]
    terminated: Bool[Array, " episode"]
    """Whether the environment reached an end, rather than cutting the episode off."""
    action_masks: Bool[Array, "episode time logit"] | None = None
    """Which actions were allowed at each step, where the environment says so."""
    broken_off: Bool[Array, " episode"] | None = None
    """Which episodes we gave up before they were over; None for none."""

    @property
    def num_episodes(self) -> int:
        """How many episodes there are."""
        return self.lengths.shape[0]

    @property
    def num_steps(self) -> int:
        """Environment steps in all episodes together."""
        return int(np.asarray(self.lengths).sum())

    @property
    def ended(self) -> Bool[np.ndarray, " episode"]:
        """Which episodes came to their end, be it a goal or a limit: the others say nothing."""
        if self.broken_off is None:
            return np.ones(self.num_episodes, dtype=bool)
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

        last = jnp.zeros_like(self.rewards[:, 0])
        _, by_time = jax.lax.scan(backwards, last, self.rewards.swapaxes(0, 1), reverse=True)
        return by_time.swapaxes(0, 1)

    def trimmed(self, num_steps: int) -> "Episodes":
        """The same episodes with less padding; none of them may be longer than `num_steps`."""
        observations = jax.tree.map(lambda leaf: leaf[:, :num_steps], self.observations)
        masks = None if self.action_masks is None else self.action_masks[:, :num_steps]
        return Episodes(
            observations,
            self.actions[:, :num_steps],
            self.rewards[:, :num_steps],
            self.lengths,
            self.terminated,
            masks,
            self.broken_off,
        )

    def taking(self, index: Int[np.ndarray, " kept"]) -> "Episodes":
        """The episodes at `index`, in that order."""
        taken: Episodes = jax.tree.map(lambda leaf: leaf[index], self)
        return taken
