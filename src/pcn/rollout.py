"""Rollouts: agents act in a batch of environments until every episode has ended."""

from abc import abstractmethod
from typing import Any, Self

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from pcn.envs.compiled import AbstractCompiledEnvironment
from pcn.episodes import Episodes


class AbstractAgent(eqx.Module):
    """Who acts in one episode; what it remembers of the episode are its own fields."""

    @abstractmethod
    def act(self, observation: PyTree[Array], key: PRNGKeyArray) -> Int[Array, " head"]:
        """Choose an action."""

    @abstractmethod
    def observing(
        self, action: Int[Array, " head"], reward: Float[Array, " objective"]
    ) -> Self:
        """The agent after it has acted and received a reward."""


def environment_action(space: gym.Space, action: Int[Array, " head"]) -> Int[Array, "..."]:
    """The action as the environment's space has it: a number where there is a single head."""
    return action[0] if isinstance(space, gym.spaces.Discrete) else action


@eqx.filter_jit
def rollout(
    environment: AbstractCompiledEnvironment,
    agents: AbstractAgent,
    agent_axes: PyTree[int | None],
    key: PRNGKeyArray,
    num_episodes: int,
) -> Episodes:
    """Run one episode per agent, all in one compiled loop.

    `agent_axes` says which parts of `agents` differ between episodes (0) and which are shared
    (None), as `in_axes` does in `jax.vmap`. The loop ends with the longest episode.
    """
    spec = environment.spec
    limit = spec.step_limit
    reset_key, loop_key = jax.random.split(key)
    in_axes = (agent_axes, 0, 0)
    act = eqx.filter_vmap(lambda agent, obs, k: agent.act(obs, k), in_axes=in_axes)
    observe = eqx.filter_vmap(
        lambda agent, action, reward: agent.observing(action, reward),
        in_axes=(agent_axes, 0, 0),
        out_axes=agent_axes,
    )
    states = jax.vmap(environment.reset)(jax.random.split(reset_key, num_episodes))

    def buffer(one: Any) -> Array:
        return jnp.zeros((limit, *one.shape), one.dtype)

    first = jax.vmap(environment.observation)(states)
    actions = eqx.filter_eval_shape(act, agents, first, jax.random.split(key, num_episodes))
    rewards = jax.ShapeDtypeStruct((num_episodes, spec.num_objectives), jnp.float32)
    records = (jax.tree.map(buffer, first), buffer(actions), buffer(rewards))
    dynamic, static = eqx.partition(agents, eqx.is_array)

    def unfinished(carry: Any) -> Bool[Array, ""]:
        time, _, _, _, ended, _ = carry
        return (time < limit) & ~jnp.all(ended)

    def advance(carry: Any) -> Any:
        time, states, dynamic, lengths, ended, records = carry
        agents = eqx.combine(dynamic, static)
        act_key, step_key = jax.random.split(jax.random.fold_in(loop_key, time))
        observations = jax.vmap(environment.observation)(states)
        actions = act(agents, observations, jax.random.split(act_key, num_episodes))
        chosen = jax.vmap(lambda a: environment_action(spec.action_space, a))(actions)
        step_keys = jax.random.split(step_key, num_episodes)
        step = jax.vmap(environment.step)(states, chosen, step_keys)

        def write(record: Array, value: Array) -> Array:
            shape = (num_episodes,) + (1,) * (value.ndim - 1)
            kept = jnp.where(ended.reshape(shape), jnp.zeros_like(value), value)
            return jax.lax.dynamic_update_index_in_dim(record, kept, time, 0)

        records = jax.tree.map(write, records, (observations, actions, step.reward))
        dynamic, _ = eqx.partition(observe(agents, actions, step.reward), eqx.is_array)
        lengths = lengths + (~ended).astype(jnp.int32)
        return time + 1, step.state, dynamic, lengths, ended | step.terminated, records

    lengths = jnp.zeros(num_episodes, jnp.int32)
    ended = jnp.zeros(num_episodes, dtype=bool)
    start = (jnp.int32(0), states, dynamic, lengths, ended, records)
    *_, lengths, terminated, records = jax.lax.while_loop(unfinished, advance, start)
    observations, actions, rewards = jax.tree.map(lambda record: record.swapaxes(0, 1), records)
    return Episodes(observations, actions, rewards, lengths, terminated)
