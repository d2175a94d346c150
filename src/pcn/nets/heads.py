"""Action heads: several categorical choices taken together, one per component of an action.

A `Discrete` action space has one head; `MultiDiscrete` and `MultiBinary` have several. Logits of
all heads lie side by side in one vector.
"""

from typing import Any

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pcn.errors import UserError
from pcn.types import AnyArray

_FORBIDDEN = -1e9


class ActionHeads(eqx.Module):
    """How a vector of logits is split into choices."""

    sizes: tuple[int, ...] = eqx.field(static=True)

    @classmethod
    def for_space(cls, space: gym.Space[Any]) -> "ActionHeads":
        """The heads of a discrete action space."""
        if np.any(getattr(space, "start", 0)):
            raise UserError(f"actions must be counted from 0, got {space}")
        if isinstance(space, gym.spaces.Discrete):
            return cls((int(space.n),))
        if isinstance(space, gym.spaces.MultiDiscrete):
            return cls(tuple(int(n) for n in np.ravel(space.nvec)))
        if isinstance(space, gym.spaces.MultiBinary):
            return cls((2,) * int(np.prod(space.shape)))
        raise UserError(
            f"PCN needs discrete actions (Discrete, MultiDiscrete or MultiBinary), got {space}"
        )

    @property
    def num_logits(self) -> int:
        """Length of the vector of logits."""
        return sum(self.sizes)

    def _split(self, logits: Float[Array, " logit"]) -> list[Float[Array, " action"]]:
        return jnp.split(logits, np.cumsum(self.sizes)[:-1].tolist())

    def masked(
        self, logits: Float[Array, " logit"], mask: Bool[Array, " logit"] | None
    ) -> Float[Array, " logit"]:
        """Logits with forbidden actions pushed out of reach."""
        return logits if mask is None else jnp.where(mask, logits, _FORBIDDEN)

    def allowed(
        self, action: Int[AnyArray, " head"], mask: Bool[Array, " logit"] | None
    ) -> Bool[Array, ""]:
        """Whether a mask allows every part of an action."""
        if mask is None:
            return jnp.asarray(True)
        starts = np.cumsum((0, *self.sizes[:-1]))
        return jnp.all(mask[jnp.asarray(starts) + action])

    def log_probability(
        self, logits: Float[Array, " logit"], action: Int[Array, " head"]
    ) -> Float[Array, ""]:
        """Log-probability of a whole action."""
        # Products with one-hot vectors: an index would become a slow scatter in the gradient.
        parts = [
            jnp.sum(jax.nn.log_softmax(part) * jax.nn.one_hot(action[i], part.shape[0]))
            for i, part in enumerate(self._split(logits))
        ]
        return jnp.sum(jnp.stack(parts))

    def log_probabilities(self, logits: Float[Array, " logit"]) -> Float[Array, " logit"]:
        """Log-probability of every action of every head."""
        return jnp.concatenate([jax.nn.log_softmax(part) for part in self._split(logits)])

    def entropy(self, logits: Float[Array, " logit"]) -> Float[Array, ""]:
        """How undecided the heads are together, in nats."""
        logs = self.log_probabilities(logits)
        return -jnp.sum(jnp.exp(logs) * logs)

    def greedy(self, logits: Float[Array, " logit"]) -> Int[Array, " head"]:
        """The most confident action; the first one where several tie."""
        return jnp.stack([jnp.argmax(part) for part in self._split(logits)]).astype(jnp.int32)

    def sampled(self, logits: Float[Array, " logit"], key: PRNGKeyArray) -> Int[Array, " head"]:
        """An action drawn with the softmax probabilities."""
        return self.greedy(logits + self.noise(key))

    def noise(self, key: PRNGKeyArray) -> Float[Array, " logit"]:
        """What makes `greedy` an action drawn with the softmax probabilities: added to logits."""
        return jax.random.gumbel(key, (self.num_logits,))
