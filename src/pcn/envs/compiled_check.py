"""Check that a compiled environment agrees with its spec, before anything is compiled."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from pcn.envs.compiled import AbstractCompiledEnvironment
from pcn.envs.observations import empty_observations
from pcn.errors import UserError
from pcn.nets.heads import action_head_for


def check_compiled(environment: AbstractCompiledEnvironment) -> None:
    """Raise a `UserError` where shapes or types do not fit; nothing is computed.

    The methods are traced with abstract arrays, as in compilation.
    """
    spec = environment.spec
    head = action_head_for(spec.action_space)
    key = jax.random.key(0)

    def traced(method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return jax.eval_shape(method, *arguments)
        except UserError:
            raise
        except Exception as error:  # whatever the environment's own code raises
            raise UserError(f"{spec.name} failed in `{method.__name__}`: {error!r}") from error

    state = traced(environment.reset, key)
    action = jax.eval_shape(lambda: head.in_space(jnp.zeros(head.num_parts, head.dtype)))
    outcome = traced(environment.step, state, action, key)
    try:
        following, reward, terminated, truncated = outcome
    except (TypeError, ValueError):
        raise UserError(f"{spec.name}: `step` must return a `Step`, got {outcome!r}") from None
    _same(spec.name, "the state after `step`", following, state)
    _same(
        spec.name, "the reward", reward, jax.ShapeDtypeStruct((spec.num_objectives,), jnp.float32)
    )
    for what, flag in (("terminated", terminated), ("truncated", truncated)):
        flag = jax.eval_shape(jnp.asarray, flag)
        _same(spec.name, f"`{what}`", flag, jax.ShapeDtypeStruct((), bool))
    expected = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype),
        empty_observations(spec.observation_space, ()),
    )
    _same(spec.name, "the observation", traced(environment.observation, state), expected)
    if spec.masked_actions:
        mask = traced(environment.action_mask, state)
        _same(spec.name, "the action mask", mask, jax.ShapeDtypeStruct((head.mask_size,), bool))


def _same(name: str, what: str, found: Any, expected: Any) -> None:
    """Refuse arrays of another structure, shape or type than expected."""

    def described(leaf: Any) -> str:
        return f"{leaf.dtype}{list(leaf.shape)}"

    found, expected = jax.tree.map(described, found), jax.tree.map(described, expected)
    if found != expected:
        raise UserError(f"{name}: {what} must be {expected}, got {found}")
