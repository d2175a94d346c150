"""The agents in the slots of a Gymnasium environment; all act in one compiled call."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PyTree

from pcn.rollout.agent import AbstractAgent, own_mask
from pcn.rollout.packing import Packing
from pcn.types import AnyArray, RandomKey

CALLS_AHEAD = 32
"""Calls whose random numbers are drawn together: drawing them takes as long as acting."""

Packed = list[Array]
"""Arrays as `Packing` makes them."""


class SlotAgents:
    """One agent per slot; when its episode is over, the agent of the next episode replaces it."""

    def __init__(self, agents: AbstractAgent, key: RandomKey, num_slots: int) -> None:
        structure, own, shared = Structure.of(agents)
        self._compiled = _compiled(structure, num_slots)
        self._all_own, self._shared = self._compiled.pack(own, shared)
        self._own = [part[:num_slots] for part in self._all_own]
        self._key = jnp.asarray(key)
        self._actions: Array | None = None
        self._drawn: list[PyTree[Array]] = []
        self._num_drawn = 0

    def act(
        self,
        observations: PyTree[AnyArray],
        masks: Bool[np.ndarray, "slot choice"] | None,
        rewards: Float[np.ndarray, "slot objective"],
        replaced: tuple[Int[np.ndarray, " slot"], Bool[np.ndarray, " slot"]] | None,
    ) -> Num[np.ndarray, "slot part"]:
        """Give all agents the rewards of their last actions, replace some agents, and let all act.

        `replaced` says which agent is now in each slot, and in which slots it is a new one. The
        agents may keep the array of rewards, so the caller must not change it afterwards.
        """
        if not self._drawn:
            first = np.asarray(self._num_drawn, np.uint32)
            self._drawn = self._compiled.draw(self._all_own, self._shared, self._key, first)[::-1]
            self._num_drawn += len(self._drawn)
        joining = None if replaced is None else (self._all_own, *replaced)
        self._own, self._actions = self._compiled.advance(
            self._shared, self._own, self._actions, rewards, joining,
            self._drawn.pop(), observations, masks,
        )  # fmt: skip
        return np.asarray(self._actions)


class Structure(NamedTuple):
    """All of an agent but its arrays.

    Passing a module to a compiled call takes longer than the call itself; a few arrays do not.
    """

    tree: Any
    rest: tuple[tuple[int, Any], ...]
    """The leaves that are no arrays, and their places."""
    own_places: tuple[int, ...]
    """Places of the arrays that have one value per episode."""
    shared_places: tuple[int, ...]
    own: Packing
    shared: Packing

    @classmethod
    def of(cls, agents: AbstractAgent) -> tuple["Structure", list[Any], list[Any]]:
        """The structure of agents, their own arrays, and the arrays that they share."""
        leaves, tree = jax.tree.flatten(agents)
        is_own = jax.tree.leaves(own_mask(agents))
        own: list[tuple[int, Any]] = []
        shared: list[tuple[int, Any]] = []
        rest: list[tuple[int, Any]] = []
        for place, leaf in enumerate(leaves):
            if not eqx.is_array(leaf):
                rest.append((place, leaf))
            else:
                (own if is_own[place] else shared).append((place, leaf))
        own_places, own_arrays = zip(*own, strict=True)
        shared_places, shared_arrays = zip(*shared, strict=True) if shared else ((), ())
        structure = cls(
            tree, tuple(rest), own_places, shared_places,
            Packing.of(own_arrays, leading=1), Packing.of(shared_arrays, leading=0),
        )  # fmt: skip
        return structure, list(own_arrays), list(shared_arrays)

    def agent(self, own: Packed, shared: Packed) -> Any:
        """An agent with these arrays."""
        leaves = dict(self.rest)
        leaves.update(zip(self.own_places, self.own.unpacked(own), strict=True))
        leaves.update(zip(self.shared_places, self.shared.unpacked(shared), strict=True))
        return jax.tree.unflatten(self.tree, [leaves[place] for place in range(len(leaves))])

    def own_of(self, agent: Any) -> Packed:
        """The agent's own arrays."""
        leaves = jax.tree.leaves(agent)
        return self.own.packed([leaves[place] for place in self.own_places])


class Compiled(NamedTuple):
    """Functions that are compiled once for all agents of the same structure."""

    pack: Callable[..., tuple[Packed, Packed]]
    draw: Callable[..., list[PyTree[Array]]]
    advance: Callable[..., tuple[Packed, Array]]


@lru_cache(maxsize=32)
def _compiled(structure: Structure, num_slots: int) -> Compiled:
    def pack(own: Sequence[Array], shared: Sequence[Array]) -> tuple[Packed, Packed]:
        return structure.own.packed(own), structure.shared.packed(shared)

    def draw(all_own: Packed, shared: Packed, key: Array, first: Array) -> list[PyTree[Array]]:
        anyone = structure.agent([part[0] for part in all_own], shared)

        def for_call(call: Array) -> PyTree[Array]:
            keys = jax.random.split(jax.random.fold_in(key, call), num_slots)
            return jax.vmap(anyone.draw)(keys)

        drawn = jax.vmap(for_call)(first + jnp.arange(CALLS_AHEAD, dtype=jnp.uint32))
        return [jax.tree.map(lambda leaf: leaf[i], drawn) for i in range(CALLS_AHEAD)]  # noqa: B023

    def advance(
        shared: Packed,
        own: Packed,
        actions: Num[Array, "slot part"] | None,
        rewards: Float[Array, "slot objective"],
        joining: tuple[Packed, Int[Array, " slot"], Bool[Array, " slot"]] | None,
        drawn: PyTree[Array],
        observations: PyTree[Array],
        masks: Bool[Array, "slot choice"] | None,
    ) -> tuple[Packed, Num[Array, "slot part"]]:
        def observe(own: Packed, action: Array, reward: Array) -> Packed:
            return structure.own_of(structure.agent(own, shared).observing(action, reward))

        def act(
            own: Packed, observation: Any, drawn: Any, mask: Any
        ) -> tuple[Packed, Num[Array, " part"]]:
            agent = structure.agent(own, shared)
            action = agent.act_drawn(observation, drawn, mask)
            return structure.own_of(agent.having_acted(observation, action)), action

        if actions is not None:  # there are none before the first call
            own = jax.vmap(observe)(own, actions, rewards)
        if joining is not None:
            all_own, index, started = joining
            pairs = zip(all_own, own, strict=True)
            own = [jnp.where(started[:, None], new[index], old) for new, old in pairs]
        return jax.vmap(act)(own, observations, drawn, masks)

    return Compiled(jax.jit(pack), jax.jit(draw), jax.jit(advance))
