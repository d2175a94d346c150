"""Rollouts: agents act in a batch of environments until every episode has ended."""

from pcn.envs.environment import Environment
from pcn.envs.gymnasium_adapter import GymnasiumEnvironment
from pcn.episodes import Episodes
from pcn.rollout.agent import AbstractAgent, environment_action
from pcn.rollout.compiled import compiled_rollout
from pcn.rollout.stepped import stepped_rollout
from pcn.typing import RandomKey

__all__ = ["AbstractAgent", "environment_action", "rollout"]


def rollout(
    environment: Environment,
    agents: AbstractAgent,
    key: RandomKey,
    num_episodes: int,
    *,
    count: int | None = None,
) -> Episodes:
    """Run one episode per agent.

    Only the first `count` episodes are needed; the others are run where that costs nothing.
    """
    if isinstance(environment, GymnasiumEnvironment):
        return stepped_rollout(environment, agents, key, num_episodes, count or num_episodes)
    return compiled_rollout(environment, agents, key, num_episodes)
