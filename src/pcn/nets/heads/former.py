"""The former names of action heads, for the algorithms that still use them."""

from typing import Any

import gymnasium as gym
from jaxtyping import Array, Float, Int

from pcn.nets.heads.categorical import CategoricalHead


class ActionHeads(CategoricalHead):
    """A `CategoricalHead` under the names of old."""

    @classmethod
    def for_space(cls, space: gym.Space[Any]) -> "ActionHeads":
        """As `action_head_for`."""
        from pcn.nets.heads import action_head_for

        return cls.of(action_head_for(space))

    @classmethod
    def of(cls, head: Any) -> "ActionHeads":
        """The same head under the names of old."""
        return cls(head.sizes, shape=head.shape, space_dtype=head.space_dtype)

    @property
    def num_logits(self) -> int:
        """`num_outputs`."""
        return self.num_outputs

    def log_probabilities(self, logits: Float[Array, " logit"]) -> Float[Array, " logit"]:
        """Within `divergence`."""
        return self._log_probabilities(logits)

    def sampled(self, logits: Float[Array, " logit"], key: Any) -> Int[Array, " head"]:
        """With a key instead of the noise that is made from it."""
        return self.greedy(logits + self.noise(key))
