"""Rollouts of compiled environments: all episodes in one compiled loop."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Num, PRNGKeyArray, PyTree, Shaped, UInt32

from pcn.envs.compiled import AbstractCompiledEnvironment
from pcn.episodes import Episodes
from pcn.nets.heads import action_head_for
from pcn.rollout.agent import AbstractAgent, own_mask
from pcn.types import AnyArray, RandomKey


@eqx.filter_jit
def compiled_rollout(
    environment: AbstractCompiledEnvironment,
    agents: AbstractAgent,
    key: RandomKey,
    num_episodes: int,
    count: Int[AnyArray, ""],
    most_steps: Int[AnyArray, " episode"],
    numbers: UInt32[AnyArray, " episode"] | None = None,
) -> Episodes:
    """Run all episodes in one compiled loop that ends with the longest of them.

    The first `count` episodes are marked as real; the others are run, too. Episodes of equal
    `numbers` get the same random keys.
    """
    spec, action_head = environment.spec, action_head_for(environment.spec.action_space)
    limit = spec.step_limit
    reset_key, loop_key = jax.random.split(jnp.asarray(key))
    mask = own_mask(agents)
    own, shared = eqx.partition(agents, mask)

    def act(
        own: Any,
        observation: PyTree[Array],
        key: PRNGKeyArray,
        action_mask: Bool[Array, " choice"] | None,
    ) -> Num[Array, " part"]:
        agent = eqx.combine(own, shared)
        if action_mask is None:
            return agent.act(observation, key)
        return agent.act(observation, key, action_mask)

    def observe(own: Any, observation: PyTree[Array], action: Array, reward: Array) -> Any:
        agent = eqx.combine(own, shared).having_acted(observation, action)
        return eqx.filter(agent.observing(action, reward), mask)

    def keys(key: PRNGKeyArray) -> Shaped[Array, "episode *raw"]:
        if numbers is None:
            return jax.random.split(key, num_episodes)
        return jax.vmap(lambda number: jax.random.fold_in(key, number))(jnp.asarray(numbers))

    def action_masks_of(states: Any) -> Bool[Array, "episode choice"] | None:
        return jax.vmap(environment.action_mask)(states) if spec.masked_actions else None

    def empty_record(one: Any) -> Array:
        return jnp.zeros((limit, *one.shape), one.dtype)

    states = jax.vmap(environment.reset)(keys(reset_key))
    first = jax.vmap(environment.observation)(states)
    masks = jax.eval_shape(action_masks_of, states)
    actions = jax.ShapeDtypeStruct((num_episodes, action_head.num_parts), action_head.dtype)
    rewards = jax.ShapeDtypeStruct((num_episodes, spec.num_objectives), jnp.float32)
    records = jax.tree.map(empty_record, (first, actions, rewards, masks))

    def unfinished(carry: Any) -> Bool[Array, ""]:
        time, _, _, _, ended, _, _ = carry
        return jnp.any((time < most_steps) & ~ended)

    def advance(carry: Any) -> Any:
        time, states, own, lengths, ended, terminated, records = carry
        act_key, step_key = jax.random.split(jax.random.fold_in(loop_key, time))
        observations, masks = jax.vmap(environment.observation)(states), action_masks_of(states)
        actions = jax.vmap(act)(own, observations, keys(act_key), masks)
        chosen = jax.vmap(action_head.in_space)(actions)
        step = jax.vmap(environment.step)(states, chosen, keys(step_key))

        over = ended | (time >= most_steps)

        def where_over(one: Array, other: Array) -> Array:
            shape = (num_episodes,) + (1,) * (other.ndim - 1)
            return jnp.where(over.reshape(shape), one, other)

        def write(record: Array, value: Array) -> Array:
            kept = where_over(jnp.zeros_like(value), value)
            return jax.lax.dynamic_update_index_in_dim(record, kept, time, 0)

        records = jax.tree.map(write, records, (observations, actions, step.reward, masks))
        own = jax.vmap(observe)(own, observations, actions, step.reward)
        lengths = lengths + (~over).astype(jnp.int32)
        # An episode that is over keeps its last state, from which the last observation is made.
        states = jax.tree.map(where_over, states, step.state)
        terminated = terminated | (step.terminated & ~over)
        ended = ended | ((step.terminated | step.truncated) & ~over)
        return time + 1, states, own, lengths, ended, terminated, records

    lengths = jnp.zeros(num_episodes, jnp.int32)
    never = jnp.zeros(num_episodes, dtype=bool)
    start = (jnp.int32(0), states, own, lengths, never, never, records)
    _, states, _, lengths, ended, terminated, records = jax.lax.while_loop(
        unfinished, advance, start
    )
    observations, actions, rewards, masks = jax.tree.map(
        lambda record: record.swapaxes(0, 1), records
    )
    return Episodes(
        observations,
        actions,
        rewards,
        lengths,
        terminated,
        action_masks=masks,
        broken_off=~ended & (lengths < limit),
        real_mask=jnp.arange(num_episodes) < count,
        last_observations=jax.vmap(environment.observation)(states),
    )
