"""The network that fits an environment, untrained or as a run has saved it."""

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pcn.algorithms.pcn.core_config import CoreConfig
from pcn.envs.observations import empty_observations
from pcn.envs.spec import EnvironmentSpec
from pcn.memory import refuse_without_memory
from pcn.nets.expectations import Expectations
from pcn.nets.heads import AbstractActionHead, action_head_for
from pcn.nets.policy import ConditionedPolicy
from pcn.nets.spaces import embedding_for, own_embedding
from pcn.serialisation.arrays import with_named_arrays
from pcn.types import RandomKey


def fresh_policy(
    spec: EnvironmentSpec,
    config: CoreConfig,
    key: RandomKey,
) -> ConditionedPolicy:
    """An untrained network that fits the environment."""
    _refuse_too_large(config)
    if config.embedding is not None:  # a user's class may do what cannot be compiled
        return _fresh_policy(spec, config, key)
    policy: ConditionedPolicy = _fresh_in_one_program(spec, config, key)
    return policy


def _refuse_too_large(config: CoreConfig) -> None:
    """Refuse a network that does not fit into memory: XLA ends the process where sizes overflow."""
    width, layers, batch = config.width, config.hidden_layers, config.batch_size
    weights = 4 * width**2 * (layers + 1)
    refuse_without_memory(
        4 * weights + 4 * batch * width * (layers + 2),  # a gradient and two moments, and a batch
        f"a network with width={width:,}, hidden_layers={layers:,} and batch_size={batch:,}",
        "give less of them",
    )


def _fresh_policy(spec: EnvironmentSpec, config: CoreConfig, key: RandomKey) -> ConditionedPolicy:
    state_key, policy_key = jax.random.split(jnp.asarray(key))
    if config.embedding is None:
        embedding = embedding_for(
            spec.observation_space, config.width, joint_one_hot=config.joint_one_hot, key=state_key
        )
    else:
        embedding = own_embedding(
            config.embedding,
            spec.observation_space,
            config.width,
            example=empty_observations(spec.observation_space, ()),
            key=state_key,
        )
    return ConditionedPolicy(
        embedding,
        fresh_head(spec, config),
        num_objectives=spec.num_objectives,
        width=config.width,
        hidden_layers=config.hidden_layers,
        gate=config.gate,
        key=policy_key,
    )


def fresh_head(spec: EnvironmentSpec, config: CoreConfig) -> AbstractActionHead:
    """The action head that the network of a training has."""
    return action_head_for(spec.action_space, config.continuous_head, config.action_levels)


_fresh_in_one_program = eqx.filter_jit(_fresh_policy)
"""Each shape of weights would be a program of its own otherwise."""


def expectations_of(
    policy: ConditionedPolicy, key: RandomKey, *, least_survival: float = 0.05
) -> Expectations:
    """Untrained expectations that fit a policy; they begin with its embedding of states."""
    width, numbers = policy.embed_command.out_features, policy.embed_command.in_features
    assert isinstance(width, int)
    assert isinstance(numbers, int)
    return Expectations(
        policy.embed_state,
        policy.action_head,
        num_objectives=numbers - 1,
        width=width,
        least_survival=least_survival,
        key=jnp.asarray(key),
    )


def saved_policy(
    spec: EnvironmentSpec,
    config: CoreConfig,
    arrays: Mapping[str, np.ndarray],
    number: int = 0,
) -> ConditionedPolicy:
    """One of the networks whose weights stand in a run's arrays."""
    name = network_name(number)
    expects = any(array.startswith(f"{name}.expectations.") for array in arrays)

    def like() -> ConditionedPolicy:
        key = np.zeros(2, np.uint32)
        policy = _fresh_policy(spec, config, key)
        return policy.expecting(expectations_of(policy, key)) if expects else policy

    # Shapes are enough, and to compile random weights takes seconds.
    shapes = like() if config.embedding is not None else eqx.filter_eval_shape(like)
    return with_named_arrays(shapes, arrays, name)


def network_name(number: int) -> str:
    """What the arrays of a run's networks are called: `policy`, `policy_1`, and so on."""
    return "policy" if number == 0 else f"policy_{number}"
