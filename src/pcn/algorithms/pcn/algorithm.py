"""PCN as an entry of `ALGORITHMS`: how to train it, and how to act with what it learned."""

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pcn.algorithms.execution import Execution
from pcn.algorithms.pcn.acting import Actor
from pcn.algorithms.pcn.agent import ConditionedAgent
from pcn.algorithms.pcn.config import PRESETS, PCNConfig
from pcn.algorithms.pcn.logging import stored_episodes
from pcn.algorithms.pcn.network import network_name, saved_policy
from pcn.algorithms.pcn.train import PCNTrainer
from pcn.algorithms.trainer import AbstractAlgorithm
from pcn.command import Command
from pcn.coverage import CoverageSet
from pcn.datasets.logged import LoggedEpisodes
from pcn.datasets.use import LoggedData
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.rollout.runner import Runner
from pcn.single_returns import SingleReturns


class PCN(AbstractAlgorithm):
    """Pareto Conditioned Networks, as an entry of `ALGORITHMS`."""

    config_class = PCNConfig
    learns_from_data = True
    presets = PRESETS

    def trainer(
        self,
        environment: AbstractEnvironment,
        config: PCNConfig,
        *,
        seed: int,
        steps_before: int = 0,
        logged: LoggedData | None = None,
    ) -> PCNTrainer:
        """A training that has not begun; `steps_before` were spent by then, and count."""
        scale, expected = config.command_scale, environment.spec.num_objectives + 1
        if scale is not None and len(scale) != expected:
            raise UserError(f"command_scale has {len(scale)} numbers, expected {expected}")
        return PCNTrainer(environment, config, seed=seed, steps_before=steps_before, logged=logged)

    def episodes_of(
        self, spec: EnvironmentSpec, arrays: Mapping[str, np.ndarray], source: str
    ) -> LoggedEpisodes:
        """The episodes of the dataset, as the checkpoint of a finished run holds them."""
        return stored_episodes(spec, arrays, source)

    def agent(
        self,
        spec: EnvironmentSpec,
        config: PCNConfig,
        arrays: Mapping[str, np.ndarray],
        coverage_set: CoverageSet,
        index: int,
    ) -> ConditionedAgent:
        """A network under the command of one policy, always taking its first choice."""
        network = int(coverage_set.network[index])
        policy = saved_policy(spec, config, arrays, network)
        follows = follows_rewards(arrays, network)

        def number(value: float) -> Float[Array, ""]:
            return jnp.asarray(value, jnp.float32)

        bound, lower = jnp.asarray(bound_of(arrays, network), jnp.float32), lower_bound_of(arrays)
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
            lower_bound=None if lower is None else jnp.asarray(lower, jnp.float32),
            follows_rewards=jnp.asarray(follows),
            expected=None
            if policy.expectations is None
            else jnp.asarray(policy.expectations.nothing()),
        )

    def arrays_of(
        self, arrays: Mapping[str, np.ndarray], coverage_set: CoverageSet, index: int
    ) -> dict[str, np.ndarray]:
        """The network that executes the policy, as the only one."""
        number = int(coverage_set.network[index])
        own, first = f"{network_name(number)}.", f"{network_name(0)}."
        taken = {
            first + name.removeprefix(own): array
            for name, array in arrays.items()
            if name.startswith(own)
        }
        if "follows_rewards" in arrays:
            taken["follows_rewards"] = np.asarray(arrays["follows_rewards"])[number : number + 1]
        bounds = ("upper_bound", "lower_bound")
        return taken | {name: np.asarray(arrays[name]) for name in bounds if name in arrays}

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
        keys = np.random.default_rng(seed)
        returns = np.zeros((len(coverage_set), executions, environment.spec.num_objectives))
        for network in np.unique(coverage_set.network).tolist():
            own = np.flatnonzero(coverage_set.network == network)
            batches = actor.execute(
                saved_policy(environment.spec, config, arrays, network),
                coverage_set.requested[own],
                coverage_set.horizons[own],
                key=keys.integers(1 << 32, size=2, dtype=np.uint32),
                upper_bound=bound_of(arrays, network),
                lower_bound=lower_bound_of(arrays),
                follows_rewards=follows_rewards(arrays, network),
                executions=executions,
            )
            execution = Execution.of(batches, executions=executions, discount=config.discount)
            returns[own] = np.array(execution.singles.by_policy)
        return coverage_set.remeasured(SingleReturns(tuple(returns)))


def follows_rewards(arrays: Mapping[str, np.ndarray], network: int) -> bool:
    """Whether rewards are deducted from a network's commands; older runs know no others."""
    return "follows_rewards" not in arrays or bool(arrays["follows_rewards"][network])


def bound_of(arrays: Mapping[str, np.ndarray], network: int) -> Float[np.ndarray, " objective"]:
    """The largest desired return while acting; commands that do not follow rewards have none."""
    bound = np.asarray(arrays["upper_bound"])
    return bound if follows_rewards(arrays, network) else np.full_like(bound, np.inf)


def lower_bound_of(arrays: Mapping[str, np.ndarray]) -> Float[np.ndarray, " objective"] | None:
    """The smallest desired return while acting, where a run has one."""
    return np.asarray(arrays["lower_bound"]) if "lower_bound" in arrays else None
