"""Executing commands: what a decision maker gets when the network is told what to reach."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt32

from pcn.algorithms.execution import Execution, nth_key
from pcn.algorithms.pcn.agent import NO_ACTION, ConditionedAgent
from pcn.algorithms.pcn.exploration import Randomness
from pcn.command import Command
from pcn.envs.environment import AbstractEnvironment
from pcn.episodes import Episodes
from pcn.nets.policy import ConditionedPolicy
from pcn.rollout import rollout


@dataclass(frozen=True)
class Actor:
    """An environment and the constants of acting in it, in batches of one compiled size."""

    environment: AbstractEnvironment
    batch_size: int
    discount: float

    def run(
        self,
        policy: ConditionedPolicy,
        desired_returns: Float[np.ndarray, "episode objective"],
        desired_horizons: Float[np.ndarray, " episode"],
        randomness: Randomness,
        *,
        upper_bound: Float[np.ndarray, " objective"],
        key: UInt32[np.ndarray, " 2"],
        greedy: bool = False,
        count: int | None = None,
        most_steps: int | None = None,
    ) -> Episodes:
        """One episode per command; as many commands as the batch has places.

        Only the first `count` episodes are needed, and none after `most_steps` steps.
        """
        size = self.batch_size
        single = np.float32
        desired = np.minimum(desired_returns, upper_bound).astype(single)
        agents = ConditionedAgent(
            policy=policy,
            command=Command(desired, desired_horizons.astype(single)),
            noise=randomness.noise.astype(single),
            repeat=randomness.repeat.astype(single),
            last_action=np.full((size, len(policy.heads.sizes)), NO_ACTION, np.int32),
            greedy=np.asarray(greedy),
            discount=np.asarray(self.discount, single),
            upper_bound=upper_bound.astype(single),
        )
        return rollout(self.environment, agents, key, size, count=count, most_steps=most_steps)


def execute(
    actor: Actor,
    policy: ConditionedPolicy,
    desired_returns: Float[np.ndarray, "command objective"],
    desired_horizons: Float[np.ndarray, " command"],
    *,
    key: UInt32[np.ndarray, " 2"],
    upper_bound: Float[np.ndarray, " objective"],
    executions: int = 1,
    keep: Callable[[Episodes, int], None] | None = None,
) -> Execution:
    """Execute every command greedily, `executions` times each.

    `keep` receives each batch of episodes and how many of them are real; the last batch is
    filled up with repetitions.
    """
    num_commands = len(desired_returns)
    order = np.tile(np.arange(num_commands), executions)
    returns, lengths = [], []
    for number, start in enumerate(range(0, len(order), actor.batch_size)):
        index = order[start : start + actor.batch_size]
        padded = np.resize(index, actor.batch_size)
        episodes = actor.run(
            policy,
            desired_returns[padded],
            desired_horizons[padded],
            Randomness.none(actor.batch_size),
            upper_bound=upper_bound,
            key=nth_key(key, number),
            greedy=True,
            count=len(index),
        )
        if keep is not None:
            keep(episodes, len(index))
        returns.append(episodes.returns(discount=actor.discount)[: len(index)])
        lengths.append(np.asarray(episodes.lengths)[: len(index)])
    return Execution.of_episodes(returns, lengths, executions)
