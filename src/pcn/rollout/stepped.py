"""Rollouts of Gymnasium environments: one compiled policy call per step for all slots."""

from typing import Any

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from pcn.envs.gymnasium_adapter import GymnasiumEnvironment
from pcn.envs.spec import EnvironmentSpec
from pcn.episodes import Episodes
from pcn.nets.heads import ActionHeads
from pcn.rollout.agent import AbstractAgent, own_mask
from pcn.typing import AnyArray, RandomKey


def stepped_rollout(
    environment: GymnasiumEnvironment,
    agents: AbstractAgent,
    key: RandomKey,
    num_episodes: int,
    count: int,
    most_steps: int,
) -> Episodes:
    """Episodes of a Gymnasium environment, one policy call per step for all slots together.

    A slot whose episode has ended takes up the next one, so that no slot waits for another.
    """
    spec, slots = environment.spec, environment.slots()
    heads = ActionHeads.for_space(spec.action_space)
    num_slots = min(environment.num_slots, num_episodes)
    recorder = _Recorder(spec, heads, num_episodes)
    numbers = key if isinstance(key, np.ndarray) else np.asarray(jax.random.key_data(key))
    seeds = np.random.default_rng(numbers).integers(1 << 31, size=num_episodes)
    waiting = list(range(count))[::-1]
    playing: dict[int, int] = {}  # slot -> episode
    observations: list[Any] = [None] * num_slots
    masks = np.ones((num_slots, heads.num_logits), dtype=bool)
    index = np.zeros(num_slots, dtype=np.int32)
    started = np.ones(num_slots, dtype=bool)
    rewards = np.zeros((num_slots, spec.num_objectives), dtype=np.float32)
    actions = np.zeros((num_slots, len(heads.sizes)), dtype=np.int32)
    own = jax.tree.map(lambda leaf: leaf[:num_slots], eqx.filter(agents, own_mask(agents)))
    call = 0
    while playing or waiting:
        free = [slot for slot in range(num_slots) if slot not in playing][: len(waiting)]
        for slot in free:
            playing[slot] = index[slot] = waiting.pop()
        first = slots.reset({slot: int(seeds[playing[slot]]) for slot in free}) if free else {}
        started[:] = False
        for slot, (observation, info) in first.items():
            started[slot] = True
            observations[slot] = observation
            masks[slot] = _mask(info, heads)
        shown = next(seen for seen in observations if seen is not None)
        batch = jax.tree.map(
            lambda *leaves: np.stack(leaves),
            *[shown if seen is None else seen for seen in observations],
        )
        own, chosen = _advance(
            agents, own, index, started, actions, rewards, batch,
            masks if spec.masked_actions else None, key, np.asarray(call, np.uint32),
        )  # fmt: skip
        actions = np.asarray(chosen)
        call += 1
        outcomes = slots.step(
            {slot: _for_environment(spec.action_space, actions[slot]) for slot in playing}
        )
        for slot, (observation, reward, terminated, truncated, info) in outcomes.items():
            episode = playing[slot]
            num_steps = recorder.add(
                episode, observations[slot], actions[slot], reward, masks[slot], terminated
            )
            observations[slot] = observation
            rewards[slot] = reward
            masks[slot] = _mask(info, heads)
            if terminated or truncated or num_steps >= most_steps:
                del playing[slot]
    return recorder.episodes()


@eqx.filter_jit
def _advance(
    agents: AbstractAgent,
    own: Any,
    index: Int[AnyArray, " slot"],
    started: Bool[AnyArray, " slot"],
    actions: Int[AnyArray, "slot head"],
    rewards: Float[AnyArray, "slot objective"],
    observations: PyTree[AnyArray],
    masks: Bool[AnyArray, "slot logit"] | None,
    key: RandomKey,
    call: Any,
) -> tuple[Any, Int[Array, "slot head"]]:
    """Tell the agents what their last action brought, or bring in new ones; then act."""
    mask = own_mask(agents)
    everyone, shared = eqx.partition(agents, mask)

    def observe(own: Any, action: Any, reward: Any) -> Any:
        return eqx.filter(eqx.combine(own, shared).observing(action, reward), mask)

    def act(own: Any, observation: Any, key: PRNGKeyArray, allowed: Any) -> Int[Array, " head"]:
        return eqx.combine(own, shared).act(observation, key, allowed)

    def chosen(new: Array, old: Array) -> Array:
        shape = (started.shape[0],) + (1,) * (old.ndim - 1)
        return jnp.where(started.reshape(shape), new, old)

    newcomers = jax.tree.map(lambda leaf: leaf[index], everyone)
    own = jax.tree.map(chosen, newcomers, jax.vmap(observe)(own, actions, rewards))
    keys = jax.random.split(jax.random.fold_in(jnp.asarray(key), call), started.shape[0])
    return own, jax.vmap(act)(own, observations, keys, masks)


def _for_environment(space: gym.Space[Any], action: Int[np.ndarray, " head"]) -> Any:
    if isinstance(space, gym.spaces.Discrete):
        return int(action[0])
    return action.reshape(space.shape).astype(space.dtype)


def _mask(info: dict[str, Any], heads: ActionHeads) -> Bool[np.ndarray, " logit"]:
    """The allowed actions of all heads, side by side."""
    if "action_mask" not in info:
        return np.ones(heads.num_logits, dtype=bool)
    given = info["action_mask"]
    parts = given if isinstance(given, tuple | list) else [given]
    return np.concatenate([np.ravel(part) for part in parts]).astype(bool)


class _Recorder:
    """Episodes in the making, as padded arrays."""

    def __init__(self, spec: EnvironmentSpec, heads: ActionHeads, num_episodes: int) -> None:
        shape = (num_episodes, spec.step_limit)
        self._observations: Any = None
        self._shape = shape
        self._actions = np.zeros((*shape, len(heads.sizes)), dtype=np.int32)
        self._rewards = np.zeros((*shape, spec.num_objectives), dtype=np.float32)
        self._lengths = np.zeros(num_episodes, dtype=np.int32)
        self._terminated = np.zeros(num_episodes, dtype=bool)
        self._masks = (
            np.zeros((*shape, heads.num_logits), dtype=bool) if spec.masked_actions else None
        )

    def add(
        self,
        episode: int,
        observation: Any,
        action: Int[np.ndarray, " head"],
        reward: Float[np.ndarray, " objective"],
        mask: Bool[np.ndarray, " logit"],
        terminated: bool,
    ) -> int:
        """Record one step; how many steps the episode has now."""
        if self._observations is None:
            self._observations = jax.tree.map(
                lambda leaf: np.zeros(
                    (*self._shape, *leaf.shape), jax.dtypes.canonicalize_dtype(leaf.dtype)
                ),
                observation,
            )
        time = self._lengths[episode]

        def write(record: np.ndarray, leaf: np.ndarray) -> None:
            record[episode, time] = leaf

        jax.tree.map(write, self._observations, observation)
        self._actions[episode, time] = action
        self._rewards[episode, time] = reward
        if self._masks is not None:
            self._masks[episode, time] = mask
        self._lengths[episode] += 1
        self._terminated[episode] = terminated
        return int(self._lengths[episode])

    def episodes(self) -> Episodes:
        """All that was recorded."""
        return Episodes(
            jax.tree.map(jnp.asarray, self._observations),
            jnp.asarray(self._actions),
            jnp.asarray(self._rewards),
            jnp.asarray(self._lengths),
            jnp.asarray(self._terminated),
            None if self._masks is None else jnp.asarray(self._masks),
        )
