"""The agents in the slots of a Gymnasium environment; all act in one compiled call."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PyTree, UInt32

from pcn.rollout.agent import AbstractAgent, plain_method
from pcn.rollout.packing import Packing
from pcn.types import AnyArray, RandomKey

CALLS_AHEAD = 32
"""Calls whose random numbers are drawn together: drawing them takes as long as acting."""
ROOM = 64
"""Numbers of episodes are rounded up to multiples of this, to save compilations."""

Packed = list[Array]
"""Arrays as `Packing` makes them."""


class SlotAgents:
    """One agent per slot; when its episode is over, the agent of the next episode replaces it."""

    def __init__(
        self,
        agents: AbstractAgent,
        key: RandomKey,
        num_slots: int,
        *,
        no_action: Num[np.ndarray, " part"],
    ) -> None:
        """`no_action` is any action; it replaces those before the first one."""
        structure, own, shared = Structure.of(agents)
        self._compiled = _compiled(structure, num_slots)
        self._shared = self._compiled.pack(shared)
        packed = structure.own.packed([np.asarray(one) for one in own], library=np)
        room = max(num_slots, -(-len(packed[0]) // ROOM) * ROOM)
        padded = [np.zeros((room, part.shape[1]), part.dtype) for part in packed]
        for all_rows, part in zip(padded, packed, strict=True):
            all_rows[: len(part)] = part
        self._all_own: list[Any] = padded
        self._own: list[Any] = [part[:num_slots] for part in padded]
        self._actions: Any = np.tile(no_action, (num_slots, 1))
        self._key = raw_key(key)
        # Environments are reset by numbers from this key as well: these are others.
        self._rng = np.random.default_rng(
            np.random.SeedSequence(self._key.tolist(), spawn_key=(1,))
        )
        self._draw_on_host = plain_method(agents, "draw_on_host")
        self._drawn: list[PyTree[np.ndarray]] = []
        self._num_drawn = 0
        self._draws_once = not plain_method(agents, "needs_random_numbers")()
        self._nobody = _nobody(num_slots, tuple((part.shape, part.dtype) for part in padded))

    def act(
        self,
        observations: PyTree[AnyArray],
        masks: Bool[np.ndarray, "slot choice"] | None,
        rewards: Float[np.ndarray, "slot objective"],
        replaced: tuple[Int[np.ndarray, " slot"], Bool[np.ndarray, " slot"]] | None,
    ) -> Num[np.ndarray, "slot part"]:
        """Pass the last rewards to all agents, replace some agents, and let all act.

        `replaced` says which agent is now in each slot, and in which slots it is a new one. The
        agents may keep the array of rewards, so the caller must not change it afterwards.
        """
        if not self._drawn:
            self._draw()
        drawn = self._drawn[-1] if self._draws_once else self._drawn.pop()
        new = self._nobody if replaced is None else (self._all_own, *replaced)
        self._own, self._actions = self._compiled.advance(
            self._shared, self._own, self._actions, rewards, *new, drawn, observations, masks
        )
        return np.asarray(self._actions)

    def _draw(self) -> None:
        """Draw the random numbers of the next calls."""
        drawn = self._draw_on_host(self._rng, (CALLS_AHEAD, len(self._actions)))
        if drawn is None:
            first = np.asarray(self._num_drawn, np.uint32)
            drawn = self._compiled.draw(self._own, self._shared, self._key, first)
        leaves, tree = jax.tree.flatten(drawn)
        by_call = zip(*(np.asarray(leaf) for leaf in leaves), strict=True)
        self._drawn = [jax.tree.unflatten(tree, one) for one in by_call][::-1]
        self._num_drawn += CALLS_AHEAD


@cache
def _nobody(num_slots: int, rows: tuple[tuple[tuple[int, ...], Any], ...]) -> tuple[Any, ...]:
    """Says that no agent is replaced; it is copied to the device once, not at every step.

    Besides, copying takes as long as several steps, so that rows of all agents are copied only
    where some of them begin.
    """
    nobody: tuple[Any, ...] = jax.device_put(
        (
            [np.zeros(shape, kind) for shape, kind in rows],
            np.zeros(num_slots, np.int32),
            np.zeros(num_slots, bool),
        )
    )
    return nobody


def raw_key(key: RandomKey) -> UInt32[np.ndarray, " raw"]:
    """The numbers that a key consists of."""
    return key if isinstance(key, np.ndarray) else np.asarray(jax.random.key_data(key))


class Structure(NamedTuple):
    """An agent without its arrays.

    Passing a module to a compiled call takes longer than the call itself; passing a few arrays does
    not.
    """

    tree: Any
    rest: tuple[tuple[int, Any], ...]
    """The leaves that are not arrays, and their places."""
    own_places: tuple[int, ...]
    """Places of the arrays that have one value per episode."""
    shared_places: tuple[int, ...]
    own: Packing
    shared: Packing

    @classmethod
    def of(cls, agents: AbstractAgent) -> tuple["Structure", list[Any], list[Any]]:
        """The structure of agents, their own arrays, and the arrays that they share."""
        leaves, tree = jax.tree.flatten(agents)
        is_own = _own_leaves(tree, agents.shared)
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


@lru_cache(maxsize=32)
def _own_leaves(tree: Any, shared: tuple[str, ...]) -> tuple[bool, ...]:
    """Marks the leaves that are not below a shared field; walking through a tree takes long."""
    named, _ = jax.tree_util.tree_flatten_with_path(
        jax.tree.unflatten(tree, [False] * tree.num_leaves)
    )
    return tuple(path[0].name not in shared for path, _ in named)


class Compiled(NamedTuple):
    """Functions that are compiled once for all agents of the same structure."""

    pack: Callable[..., Packed]
    draw: Callable[..., PyTree[Array]]
    advance: Callable[..., tuple[Packed, Array]]


@lru_cache(maxsize=32)
def _compiled(structure: Structure, num_slots: int) -> Compiled:
    def pack(shared: Sequence[Array]) -> Packed:
        return structure.shared.packed(shared)

    def draw(own: Packed, shared: Packed, key: Array, first: Array) -> PyTree[Array]:
        anyone = structure.agent([part[0] for part in own], shared)
        return anyone.draw(jax.random.fold_in(key, first), (CALLS_AHEAD, num_slots))

    def advance(
        shared: Packed,
        own: Packed,
        actions: Num[Array, "slot part"],
        rewards: Float[Array, "slot objective"],
        all_own: Packed,
        index: Int[Array, " slot"],
        started: Bool[Array, " slot"],
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

        own = jax.vmap(observe)(own, actions, rewards)
        pairs = zip(all_own, own, strict=True)
        own = [jnp.where(started[:, None], new[index], old) for new, old in pairs]
        return jax.vmap(act)(own, observations, drawn, masks)

    return Compiled(jax.jit(pack), jax.jit(draw), jax.jit(advance))
