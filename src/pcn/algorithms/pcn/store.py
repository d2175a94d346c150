"""Transitions of the stored episodes, kept on the device and drawn from inside compiled code."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PyTree

from pcn.command import Command
from pcn.envs.observations import empty_observations
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.memory import refuse_without_memory
from pcn.nets.heads import action_head_for
from pcn.types import AnyArray


class Transitions(eqx.Module):
    """A batch of labelled examples (Figure 2): observation and command in, action out."""

    observation: PyTree[Array]
    command: Command
    action: Num[Array, "batch part"]
    action_mask: Bool[Array, "batch choice"] | None
    goodness: Float[Array, "batch option"] | None = None
    """How good each option is, from 0 to 1 for the best; None where only the action is good."""


class Drawing(eqx.Module):
    """Which stored episodes to draw steps from, and how often each."""

    slots: Int[AnyArray, " episode"]
    """Where the episodes lie in the store; those beyond the last drawn from are padding."""
    cumulative: Float[AnyArray, " episode"]
    """Share of the draws that fall on this episode or an earlier one; 1 from the last on."""

    @classmethod
    def over(
        cls,
        slots: Int[np.ndarray, " stored"],
        weights: Int[np.ndarray, " stored"],
        capacity: int,
    ) -> "Drawing":
        """Draw from `slots` in proportion to `weights`, padded to a fixed size."""
        padded = np.zeros(capacity, dtype=np.int32)
        padded[: len(slots)] = slots
        cumulative = np.ones(capacity, dtype=np.float32)
        cumulative[: len(slots) - 1] = (np.cumsum(weights) / np.sum(weights))[:-1]
        return cls(padded, cumulative)


class TransitionStore(eqx.Module):
    """Padded episodes in numbered slots, with commands computed once on arrival."""

    observations: PyTree[Array]
    actions: Num[Array, "slot time part"]
    returns_to_go: Float[Array, "slot time objective"]
    lengths: Int[Array, " slot"]
    action_masks: Bool[Array, "slot time choice"] | None

    @classmethod
    def empty(cls, spec: EnvironmentSpec, num_slots: int) -> "TransitionStore":
        """Room for episodes of an environment."""
        shape = (num_slots, spec.step_limit)
        head = action_head_for(spec.action_space)
        seen = empty_observations(spec.observation_space, ())
        mask_size = head.mask_size if spec.masked_actions else 0
        step_bytes = 4 * (head.num_parts + spec.num_objectives) + mask_size
        step_bytes += sum(leaf.nbytes for leaf in jax.tree.leaves(seen))
        refuse_without_memory(
            num_slots * spec.step_limit * step_bytes,
            f"a dataset of {num_slots:,} episodes of {spec.name} with up to {spec.step_limit:,} "
            f"steps of {step_bytes:,} bytes",
            "make observations smaller in a wrapper, or give a lower --step-limit or --capacity",
        )

        @jax.jit  # one program for arrays of all shapes
        def store() -> TransitionStore:
            return cls(
                observations=jax.tree.map(
                    lambda leaf: jnp.zeros((*shape, *leaf.shape), leaf.dtype), seen
                ),
                actions=jnp.zeros((*shape, head.num_parts), head.dtype),
                returns_to_go=jnp.zeros((*shape, spec.num_objectives)),
                lengths=jnp.zeros(num_slots, int),
                action_masks=(
                    jnp.zeros((*shape, head.mask_size), bool) if spec.masked_actions else None
                ),
            )

        return store()

    def places(
        self,
        drawings: tuple[Drawing, ...],
        counts: tuple[int, ...],
        draws: Float[Array, "2 update batch"],
    ) -> tuple[Int[Array, "update batch"], Int[Array, "update batch"]]:
        """Slots and times of batches with `counts[i]` steps each from `drawings[i]`.

        The uniform numbers in `draws` decide; the drawings stand side by side in a batch.
        """
        ends = np.cumsum(counts)[:-1].tolist()
        slot = jnp.concatenate(
            [
                drawing.slots[jnp.searchsorted(drawing.cumulative, part, side="right")]
                for drawing, part in zip(drawings, jnp.split(draws[0], ends, axis=1), strict=True)
            ],
            axis=1,
        )
        length = self.lengths[slot]
        # The product can round up to the length itself.
        time = jnp.minimum((draws[1] * length).astype(jnp.int32), length - 1)
        return slot, time

    def at(self, slot: Int[Array, " batch"], time: Int[Array, " batch"]) -> Transitions:
        """The stored transitions at these places."""

        def take(leaf: Array) -> Array:
            return leaf[slot, time]

        horizon = (self.lengths[slot] - time).astype(jnp.float32)
        return Transitions(
            observation=jax.tree.map(take, self.observations),
            command=Command(take(self.returns_to_go), horizon),
            action=take(self.actions),
            action_mask=None if self.action_masks is None else take(self.action_masks),
        )


class Ranges(eqx.Module):
    """Smallest and largest return-to-go within each episode."""

    lowest: Float[Array, "episode objective"]
    highest: Float[Array, "episode objective"]


class Arrival(eqx.Module):
    """Episodes to be stored, and the slot of each."""

    episodes: Episodes
    slots: Int[AnyArray, " episode"]
    discount: Float[AnyArray, ""]


@eqx.filter_jit(donate="all-except-first")
def written(arrival: Arrival, store: TransitionStore) -> tuple[TransitionStore, Ranges]:
    """The store with the episodes in their slots; the old store's memory is reused."""
    episodes, slots, discount = arrival.episodes, arrival.slots, arrival.discount
    returns_to_go = episodes.returns_to_go(discount=discount)
    valid = episodes.valid_mask[:, :, None]

    def put(old: Any, new: Any) -> Any:
        return None if old is None else old.at[slots].set(new)

    store = TransitionStore(
        observations=jax.tree.map(put, store.observations, episodes.observations),
        actions=put(store.actions, episodes.actions),
        returns_to_go=put(store.returns_to_go, returns_to_go),
        lengths=put(store.lengths, episodes.lengths),
        action_masks=put(store.action_masks, episodes.action_masks),
    )
    ranges = Ranges(
        lowest=jnp.min(jnp.where(valid, returns_to_go, jnp.inf), axis=1),
        highest=jnp.max(jnp.where(valid, returns_to_go, -jnp.inf), axis=1),
    )
    return store, ranges
