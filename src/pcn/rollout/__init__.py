"""Rollouts: agents act in a batch of environments until every episode has ended."""

from functools import singledispatch

import numpy as np
from jaxtyping import Int

from pcn.envs.compiled import AbstractCompiledEnvironment
from pcn.envs.environment import AbstractEnvironment
from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.episodes import Episodes
from pcn.rollout.agent import AbstractAgent, plain_method
from pcn.rollout.checking import check_episodes
from pcn.rollout.compiled import compiled_rollout
from pcn.rollout.noisy import AbstractNoisyAgent, in_a_row
from pcn.rollout.scripted import ScriptedAgent, scripted_rollout
from pcn.rollout.stepped import stepped_rollout
from pcn.types import MostSteps, RandomKey

__all__ = [
    "AbstractAgent",
    "AbstractNoisyAgent",
    "ScriptedAgent",
    "in_a_row",
    "rollout",
    "run_episodes",
]


def rollout(
    environment: AbstractEnvironment,
    agents: AbstractAgent,
    key: RandomKey,
    num_episodes: int,
    *,
    count: int | None = None,
    most_steps: MostSteps | None = None,
    numbers: Int[np.ndarray, " episode"] | None = None,
) -> Episodes:
    """Run one episode per agent.

    Only the first `count` episodes are needed and marked as real; the others are run where that
    costs nothing. Episodes that are not over after `most_steps`, one number for all or one for
    each, are broken off; their returns must not be used. With `numbers`, episodes of equal number
    get the same random numbers, in this call and in every other one with the same key, so that
    agents can be compared more precisely. Scripts in Gymnasium environments do not support
    `numbers`. A `UserError` reports rewards or observations that are not finite.
    """
    count = num_episodes if count is None else count
    limit = environment.spec.step_limit
    limits = np.full(num_episodes, limit) if most_steps is None else np.minimum(most_steps, limit)
    each = np.broadcast_to(limits, num_episodes).astype(np.int32)
    episodes = run_episodes(environment, agents, key, num_episodes, count, each, numbers)
    check_episodes(episodes, environment.spec)
    return episodes


@singledispatch
def run_episodes(
    environment: AbstractEnvironment,
    agents: AbstractAgent,
    key: RandomKey,
    num_episodes: int,
    count: int,
    most_steps: Int[np.ndarray, " episode"],
    numbers: Int[np.ndarray, " episode"] | None = None,
) -> Episodes:
    """Run the episodes of `rollout` in one kind of environment; each kind has its function
    below."""
    raise TypeError(f"no rollout is registered in `run_episodes` for {type(environment)}")


@run_episodes.register(AbstractCompiledEnvironment)
def _run_compiled(
    environment: AbstractCompiledEnvironment,
    agents: AbstractAgent,
    key: RandomKey,
    num_episodes: int,
    count: int,
    most_steps: Int[np.ndarray, " episode"],
    numbers: Int[np.ndarray, " episode"] | None = None,
) -> Episodes:
    # As an array, so that another number of real episodes needs no new compilation.
    real = np.asarray(count, np.int32)
    keyed = None if numbers is None else numbers.astype(np.uint32)
    return compiled_rollout(environment, agents, key, num_episodes, real, most_steps, keyed)


@run_episodes.register(GymnasiumEnvironment)
def _run_in_slots(
    environment: GymnasiumEnvironment,
    agents: AbstractAgent,
    key: RandomKey,
    num_episodes: int,
    count: int,
    most_steps: Int[np.ndarray, " episode"],
    numbers: Int[np.ndarray, " episode"] | None = None,
) -> Episodes:
    plan = plain_method(agents, "plan")(int(most_steps.max()))
    if plan is not None:
        return scripted_rollout(environment, plan, key, num_episodes, count, most_steps)
    return stepped_rollout(environment, agents, key, num_episodes, count, most_steps, numbers)
