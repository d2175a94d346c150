"""An environment of another JAX package as one of our compiled environments."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Num, PRNGKeyArray, PyTree

from pcn.envs.adapted.source import AbstractSource, Held, Rewards
from pcn.envs.compiled import AbstractCompiledEnvironment, Step
from pcn.envs.given import check_counts, check_reference_point
from pcn.envs.spec import EnvironmentSpec, Objective
from pcn.envs.step_limits import UNLIMITED_STEPS
from pcn.errors import UserError
from pcn.lookup import find_function


class AdaptedEnvironment(AbstractCompiledEnvironment):
    """A source of states and observations, and a vector reward."""

    spec: EnvironmentSpec = eqx.field(static=True)
    source: AbstractSource = eqx.field(static=True)
    rewards: Rewards = eqx.field(static=True)

    @classmethod
    def of(
        cls,
        source: AbstractSource,
        *,
        name: str,
        rewards: Rewards | str | None = None,
        step_limit: int | None = None,
        reference_point: Sequence[float] | None = None,
        deterministic: bool | None = None,
    ) -> "AdaptedEnvironment":
        """Create the environment; values that are not given are the package's own, or placeholders
        that probing replaces."""
        check_counts({"step_limit": step_limit})
        function = find_function(rewards) if isinstance(rewards, str) else rewards
        function = source.own_rewards() if function is None else function
        if function is None:
            raise UserError(
                f"{name} has a scalar reward: give a function that returns a vector, as "
                "rewards=module:function"
            )
        count = num_objectives(source, function, name)
        point = (0.0,) * count if reference_point is None else reference_point
        spec = EnvironmentSpec(
            name=name,
            objectives=objectives_of(function, count),
            observation_space=source.observation_space,
            action_space=source.action_space,
            step_limit=step_limit or source.step_limit or UNLIMITED_STEPS,
            reference_point=check_reference_point(point, count),
            deterministic=bool(deterministic),
            masked_actions=source.masked_actions,
        )
        return cls(spec, source, function)

    def reset(self, key: PRNGKeyArray) -> Held:
        """The state that an episode starts in."""
        return self.source.reset(key)

    def step(self, state: Held, action: Num[Array, "..."], key: PRNGKeyArray) -> Step:
        """The result of an action."""
        outcome = self.source.step(state.inner, action, key)
        reward = self.rewards(state.inner, action, outcome.held.inner, outcome.reward)
        vector = jnp.asarray(reward, jnp.float32)
        return Step(outcome.held, vector, outcome.terminated, outcome.truncated)

    def observation(self, state: Held) -> PyTree[Array]:
        """The observation of a state."""
        return state.observation

    def action_mask(self, state: Held) -> Bool[Array, " choice"]:
        """Which choices are allowed."""
        return self.source.action_mask(state)


def num_objectives(source: AbstractSource, rewards: Rewards, name: str) -> int:
    """How many numbers a reward has; the function is traced, nothing is computed."""

    def traced(key: Any) -> Any:
        held = source.reset(key)
        kind = jax.dtypes.canonicalize_dtype(source.action_space.dtype)
        action = jnp.zeros(source.action_space.shape or (), kind)
        outcome = source.step(held.inner, action, key)
        return jnp.asarray(rewards(held.inner, action, outcome.held.inner, outcome.reward))

    try:
        shape = jax.eval_shape(traced, jax.random.key(0)).shape
    except Exception as error:  # whatever the user's function raises
        raise UserError(f"the rewards of {name} failed: {error!r}") from None
    if len(shape) != 1 or shape[0] < 2:
        raise UserError(
            f"the rewards of {name} have the shape {shape}; a vector with at least two objectives "
            "is needed"
        )
    return int(shape[0])


def objectives_of(rewards: Rewards, count: int) -> tuple[Objective, ...]:
    """The objectives as the function's attribute `objectives` names them, otherwise numbered."""
    named = getattr(rewards, "objectives", None) or [f"objective_{n}" for n in range(count)]
    if len(named) != count:
        raise UserError(f"the rewards name {len(named)} objectives and have {count}")
    return tuple(one if isinstance(one, Objective) else Objective(str(one)) for one in named)
