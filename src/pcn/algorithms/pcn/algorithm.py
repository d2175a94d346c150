"""PCN as an entry of `ALGORITHMS`: how to train it, and how to act with what it learned."""

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.acting import Actor
from pcn.algorithms.pcn.agent import ConditionedAgent
from pcn.algorithms.pcn.config import PRESETS, PCNConfig
from pcn.algorithms.pcn.network import saved_policy
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.trainer import AbstractAlgorithm
from pcn.command import Command
from pcn.coverage import CoverageSet
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.rollout.runner import Runner


class PCN(AbstractAlgorithm):
    """Pareto Conditioned Networks, as an entry of `ALGORITHMS`."""

    config_class = PCNConfig
    presets = PRESETS

    def trainer(
        self,
        environment: AbstractEnvironment,
        config: PCNConfig,
        *,
        seed: int,
        steps_before: int = 0,
    ) -> PCNTrainer:
        """A training that has not begun; `steps_before` were spent by then, and count."""
        scale, expected = config.command_scale, environment.spec.num_objectives + 1
        if scale is not None and len(scale) != expected:
            raise UserError(f"command_scale has {len(scale)} numbers, expected {expected}")
        return PCNTrainer(environment, config, seed=seed, steps_before=steps_before)

    def agent(
        self,
        spec: EnvironmentSpec,
        config: PCNConfig,
        arrays: Mapping[str, np.ndarray],
        coverage_set: CoverageSet,
        index: int,
    ) -> ConditionedAgent:
        """The network under the command of one policy, always taking its first choice."""
        policy = saved_policy(spec, config, arrays)

        def number(value: float) -> Float[Array, ""]:
            return jnp.asarray(value, jnp.float32)

        bound = jnp.asarray(arrays["upper_bound"], jnp.float32)
        desired = jnp.asarray(coverage_set.requested[index], jnp.float32)
        return ConditionedAgent(
            policy=policy,
            command=Command(
                jnp.minimum(desired, bound), number(float(coverage_set.horizons[index]))
            ),
            noise=number(0.0),
            repeat=number(0.0),
            last_action=jnp.asarray(policy.action_head.none()),
            greedy=jnp.asarray(True),
            discount=number(config.discount),
            upper_bound=bound,
            follows_rewards=jnp.asarray(True),
            expected=None
            if policy.expectations is None
            else jnp.asarray(policy.expectations.nothing()),
        )

    def execute(
        self,
        environment: AbstractEnvironment,
        config: PCNConfig,
        arrays: Mapping[str, np.ndarray],
        coverage_set: CoverageSet,
        *,
        executions: int,
        seed: int,
    ) -> CoverageSet:
        """Run every command again."""
        actor = Actor(Runner(environment), config.execution_batch, config.discount)
        batches = actor.execute(
            saved_policy(environment.spec, config, arrays),
            coverage_set.requested,
            coverage_set.horizons,
            key=np.random.default_rng(seed).integers(1 << 32, size=2, dtype=np.uint32),
            upper_bound=arrays["upper_bound"],
            executions=executions,
        )
        execution = Execution.of(batches, executions=executions, discount=config.discount)
        return dataclasses.replace(
            coverage_set, executed=execution.returns, deviation=execution.deviation
        )
