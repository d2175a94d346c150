"""Runs episodes and counts their steps."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int

from pcn.envs.environment import AbstractEnvironment
from pcn.episodes import Episodes
from pcn.rollout import rollout
from pcn.rollout.agent import AbstractAgent
from pcn.types import MostSteps, RandomKey


class Runner:
    """Runs episodes in one environment; the only place where environment steps are counted."""

    def __init__(self, environment: AbstractEnvironment) -> None:
        self.environment = environment
        self.steps = 0
        """Environment steps of all real episodes so far; set it to go on from a snapshot."""
        self.listeners: list[Callable[[Episodes], None]] = []
        """Called with every batch of episodes."""

    def run(
        self,
        agents: AbstractAgent,
        key: RandomKey,
        num_episodes: int,
        *,
        count: int | None = None,
        most_steps: MostSteps | None = None,
        numbers: Int[np.ndarray, " episode"] | None = None,
    ) -> Episodes:
        """Run one episode per agent and count the steps of the real ones; see `rollout`."""
        episodes = rollout(
            self.environment, agents, key, num_episodes,
            count=count, most_steps=most_steps, numbers=numbers,
        )  # fmt: skip
        self.steps += episodes.num_steps
        for listener in self.listeners:
            listener(episodes)
        return episodes
