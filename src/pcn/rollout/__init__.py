"""Rollouts: agents act in a batch of environments until every episode has ended."""

import numpy as np

from pcn.envs.environment import AbstractEnvironment
from pcn.envs.from_gymnasium import GymnasiumEnvironment
from pcn.episodes import Episodes
from pcn.rollout.agent import AbstractAgent, environment_action
from pcn.rollout.compiled import compiled_rollout
from pcn.rollout.scripted import ScriptedAgent, scripted_rollout
from pcn.rollout.stepped import stepped_rollout
from pcn.types import RandomKey

__all__ = ["AbstractAgent", "ScriptedAgent", "environment_action", "rollout"]


def rollout(
    environment: AbstractEnvironment,
    agents: AbstractAgent,
    key: RandomKey,
    num_episodes: int,
    *,
    count: int | None = None,
    most_steps: int | None = None,
) -> Episodes:
    """Run one episode per agent.

    Only the first `count` episodes are needed and marked as real; the others are run where that
    costs nothing. Episodes that are not over after `most_steps` are broken off: their returns mean
    nothing.
    """
    limit = environment.spec.step_limit
    steps = np.asarray(limit if most_steps is None else min(most_steps, limit), np.int32)
    count = num_episodes if count is None else count
    if isinstance(environment, GymnasiumEnvironment):
        if isinstance(agents, ScriptedAgent):
            return scripted_rollout(environment, agents, key, num_episodes, count, int(steps))
        return stepped_rollout(environment, agents, key, num_episodes, count, int(steps))
    real = np.asarray(count, np.int32)
    return compiled_rollout(environment, agents, key, num_episodes, real, steps)
