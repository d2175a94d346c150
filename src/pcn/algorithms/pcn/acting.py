"""Acting under commands: exploring episodes, and greedy executions."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt32

from pcn.algorithms.execution import nth_key
from pcn.algorithms.pcn.agent import ConditionedAgent
from pcn.command import Command
from pcn.episodes import Episodes
from pcn.nets.policy import ConditionedPolicy
from pcn.rollout.runner import Runner
from pcn.types import MostSteps


@dataclass(frozen=True)
class Actor:
    """Runs episodes under commands."""

    runner: Runner
    batch_size: int
    """Episodes of one batch of executions: one size, so that it is compiled once."""
    discount: float

    def run(
        self,
        policy: ConditionedPolicy,
        desired_returns: Float[np.ndarray, "episode objective"],
        desired_horizons: Float[np.ndarray, " episode"],
        *,
        upper_bound: Float[np.ndarray, " objective"],
        lower_bound: Float[np.ndarray, " objective"] | None = None,
        bounded_first: bool = True,
        key: UInt32[np.ndarray, " 2"],
        noise: Float[np.ndarray, " episode"] | None = None,
        repeat: Float[np.ndarray, " episode"] | None = None,
        greedy: bool = False,
        follows_rewards: bool = True,
        count: int | None = None,
        most_steps: MostSteps | None = None,
        numbers: Int[np.ndarray, " episode"] | None = None,
    ) -> Episodes:
        """Run one episode per command, all at once. Each number of commands is compiled.

        Args:
            policy: the network.
            desired_returns: the desired return of each episode.
            desired_horizons: the desired number of steps.
            upper_bound: the largest desired return; what exceeds it is clipped.
            lower_bound: the smallest desired return after the first step; None for no bound.
            bounded_first: whether that holds from the first step on, or only after it.
            key: seeds the batch.
            noise: probability of a random action, for each episode; zero if not given.
            repeat: probability that a random action is the last action again.
            greedy: whether the network's first choice is taken instead of sampling.
            follows_rewards: whether rewards are deducted from desired returns as they come.
            count: only the first `count` episodes are needed; the others are padding.
            most_steps: episodes that are not over by then are broken off; one number, or one
                for each episode.
            numbers: episodes of equal number meet the same randomness; see `rollout`.
        """
        size, single = len(desired_horizons), np.float32
        zeros, expectations = np.zeros(size), policy.expectations
        first = np.minimum(desired_returns, upper_bound) if bounded_first else desired_returns
        agents = ConditionedAgent(
            policy=policy,
            command=Command(first.astype(single), desired_horizons.astype(single)),
            noise=(zeros if noise is None else noise).astype(single),
            repeat=(zeros if repeat is None else repeat).astype(single),
            last_action=np.tile(policy.action_head.none(), (size, 1)),
            greedy=np.asarray(greedy),
            discount=np.asarray(self.discount, single),
            upper_bound=upper_bound.astype(single),
            lower_bound=None if lower_bound is None else lower_bound.astype(single),
            follows_rewards=np.asarray(follows_rewards),
            expected=None if expectations is None else np.tile(expectations.nothing(), (size, 1)),
        )
        return self.runner.run(
            agents, key, size, count=count, most_steps=most_steps, numbers=numbers
        )

    def execute(
        self,
        policy: ConditionedPolicy,
        desired_returns: Float[np.ndarray, "command objective"],
        desired_horizons: Float[np.ndarray, " command"],
        *,
        upper_bound: Float[np.ndarray, " objective"],
        lower_bound: Float[np.ndarray, " objective"] | None = None,
        key: UInt32[np.ndarray, " 2"],
        follows_rewards: bool = True,
        executions: int = 1,
        skip: int = 0,
        most_steps: Int[np.ndarray, " command"] | None = None,
    ) -> Iterator[Episodes]:
        """Execute every command greedily, `executions` times each; yields batches of episodes.

        All commands come once, then all commands once more, and so on; the last batch is filled up
        with padding. The first `skip` batches are left out, without effect on the others.
        """
        order = np.tile(np.arange(len(desired_returns)), executions)
        for number, start in enumerate(range(0, len(order), self.batch_size)):
            if number < skip:
                continue
            index = order[start : start + self.batch_size]
            padded = np.resize(index, self.batch_size)
            yield self.run(
                policy,
                desired_returns[padded],
                desired_horizons[padded],
                upper_bound=upper_bound,
                lower_bound=lower_bound,
                key=nth_key(key, number),
                greedy=True,
                follows_rewards=follows_rewards,
                count=len(index),
                most_steps=None if most_steps is None else most_steps[padded],
            )
