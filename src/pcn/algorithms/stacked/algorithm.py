"""How a stack of saved policies acts, for every algorithm that ends in one."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pcn.algorithms.stacked.agent import PolicyAgent
from pcn.algorithms.stacked.execute import execute, taking
from pcn.algorithms.trainer import AbstractAlgorithm
from pcn.coverage import CoverageSet
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.spec import EnvironmentSpec
from pcn.nets.plain_policy import PlainPolicy
from pcn.rollout.runner import Runner
from pcn.serialisation.arrays import with_named_arrays
from pcn.types import RandomKey

ARRAYS = "policies"
"""The name under which a run's arrays hold the stack."""


def fresh_policy(spec: EnvironmentSpec, config: Any, key: RandomKey) -> PlainPolicy:
    """An untrained policy that fits the environment."""
    return PlainPolicy.for_spaces(
        spec.observation_space,
        spec.action_space,
        width=config.width,
        joint_one_hot=config.joint_one_hot,
        key=jnp.asarray(key),
    )


def stacked(policy: PlainPolicy, num_policies: int) -> PlainPolicy:
    """The same policy several times."""
    copies: PlainPolicy = jax.tree.map(
        lambda leaf: jnp.broadcast_to(leaf, (num_policies, *leaf.shape)), policy
    )
    return copies


def saved_stack(
    spec: EnvironmentSpec,
    config: Any,
    arrays: Mapping[str, np.ndarray],
    num_policies: int,
) -> PlainPolicy:
    """The policies whose weights stand in a run's arrays."""
    shapes: PlainPolicy = eqx.filter_eval_shape(  # nothing needs to be compiled for them
        lambda: stacked(fresh_policy(spec, config, np.zeros(2, np.uint32)), num_policies)
    )
    return with_named_arrays(shapes, arrays, ARRAYS)


class AbstractStackedAlgorithm(AbstractAlgorithm):
    """An algorithm that ends in a stack of plain policies, each of which acts greedily."""

    presets: Mapping[str, Mapping[str, object]] = {"default": {}}

    def agent(
        self,
        spec: EnvironmentSpec,
        config: Any,
        arrays: Mapping[str, np.ndarray],
        coverage_set: CoverageSet,
        index: int,
    ) -> PolicyAgent:
        """One policy of the stack, acting greedily."""
        stack = saved_stack(spec, config, arrays, len(coverage_set))
        return PolicyAgent(taking(stack, index), jnp.asarray(jnp.inf))

    def arrays_of(
        self, arrays: Mapping[str, np.ndarray], coverage_set: CoverageSet, index: int
    ) -> dict[str, np.ndarray]:
        """A stack of one."""
        del coverage_set
        return {name: array[index : index + 1] for name, array in arrays.items()}

    def execute(
        self,
        environment: AbstractEnvironment,
        config: Any,
        arrays: Mapping[str, np.ndarray],
        coverage_set: CoverageSet,
        *,
        executions: int,
        seed: int,
    ) -> CoverageSet:
        """Run every policy again."""
        num_policies = len(coverage_set)
        execution = execute(
            Runner(environment),
            saved_stack(environment.spec, config, arrays, num_policies),
            num_policies,
            discount=config.discount,
            key=np.random.default_rng(seed).integers(1 << 32, size=2, dtype=np.uint32),
            executions=executions,
        )
        return coverage_set.remeasured(execution.singles)
