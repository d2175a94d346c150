"""An agent that goes to a place by a table, tries something there, and then acts at random."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Num, PyTree, UInt32

from pcn.rollout import AbstractNoisyAgent, in_a_row
from pcn.types import AnyArray

_GOLDEN = np.uint32(0x9E3779B9)
_FACTORS = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)


class Scout(AbstractNoisyAgent):
    """Looks up what to do in the state that it sees; unknown states get random actions."""

    shared: ClassVar[tuple[str, ...]] = ("action_head", "prints", "actions", "goals")

    prints: UInt32[AnyArray, " state"]
    """A number for each known state, in ascending order; see `observation_print`."""
    actions: Num[AnyArray, "way state part"]
    """What to do in each of them on each way; the head's `none` for a random action."""
    goals: Int[AnyArray, " way"]
    """Where each way leads to, as a place in `prints`."""
    way: Int[AnyArray, "*episode"]
    """Which way it goes."""
    arrived: Bool[AnyArray, "*episode"]
    """Whether it has tried what it came for."""

    def wanted(
        self, observation: PyTree[Array], mask: Bool[Array, " choice"] | None
    ) -> tuple[Num[Array, " part"], Bool[Array, ""]]:
        """The next step of the way."""
        place, known = self._place(observation)
        action = jnp.asarray(self.actions)[self.way, place]
        follows = known & ~self.action_head.is_none(action) & ~jnp.asarray(self.arrived)
        return action, follows & self.action_head.allowed(action, mask)

    def having_acted(self, observation: PyTree[Array], action: Num[Array, " part"]) -> "Scout":
        """The agent remembers whether it has tried what it came for."""
        place, known = self._place(observation)
        tried = known & (place == jnp.asarray(self.goals)[self.way])
        tried &= jnp.all(action == jnp.asarray(self.actions)[self.way, place])
        return eqx.tree_at(lambda one: one.arrived, self, jnp.asarray(self.arrived) | tried)

    def _place(self, observation: PyTree[Array]) -> tuple[Int[Array, ""], Bool[Array, ""]]:
        """The number of the state that is seen, and whether it is a known one."""
        prints, seen = jnp.asarray(self.prints), observation_print(observation)
        place = jnp.minimum(jnp.searchsorted(prints, seen), len(prints) - 1)
        return place, prints[place] == seen


def observation_print(observation: PyTree[Array]) -> UInt32[Array, ""]:
    """A number that differs for almost all different observations; it compiles."""
    seen = in_a_row(observation)
    places = np.arange(1, len(seen) + 1, dtype=np.uint32) * _GOLDEN
    bits = jax.lax.bitcast_convert_type(seen, jnp.uint32) + places
    # The last steps of MurmurHash3, so that each bit depends on each other one.
    bits = (bits ^ (bits >> 16)) * _FACTORS[0]
    bits = (bits ^ (bits >> 13)) * _FACTORS[1]
    return jnp.sum(bits ^ (bits >> 16), dtype=jnp.uint32)
