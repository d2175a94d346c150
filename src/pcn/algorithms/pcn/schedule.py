"""How a training divides its budget: the size of an iteration, its updates, and what the end takes.

The rules know the budget, the length of episodes as warm-up has shown it, and what the end of the
training will execute. They are the same for episodes of ten steps and of a thousand.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pcn.algorithms.pcn.core_config import CoreConfig
from pcn.envs.spec import EnvironmentSpec

FIRST_EPISODES = 16
"""Episodes that run at once until it is known how long they are."""
FEWEST_EPISODES = 8
"""Fewest episodes of an iteration: they share the calls of the network."""
MOST_EPISODES = 64
"""Most episodes that run at once."""
UPDATES_AT_ONCE = 16
"""Updates in one compiled call."""
STUCK_SHARE = 0.05
"""Most of the steps that are kept for the end because policies do not end their episodes."""


@dataclass(frozen=True)
class Batch:
    """How many episodes of a batch are run, and when they are broken off."""

    count: int
    most_steps: int


class Schedule:
    """What one training may take: episodes at once, updates that are due, steps that are left."""

    def __init__(self, config: CoreConfig, spec: EnvironmentSpec) -> None:
        self._config = config
        self._step_limit = spec.step_limit
        self._deterministic = spec.deterministic
        self._due_updates = 0.0
        self._warm_up_length = float(spec.step_limit)
        self.mean_length = float(spec.step_limit)
        """Mean length of exploring episodes; the longest possible one before there are any."""
        self.num_episodes = config.episodes_per_iteration or FIRST_EPISODES
        """Episodes of an iteration."""
        self.affordable_share = 1.0
        """Share of the wanted iterations that the budget holds if episodes stay as long as in
        warm-up; 1 where it holds all of them."""

        self.num_stuck = 0
        """How many commands had not come to an end when they were executed last; each may take as
        many steps at the end as an episode can. None where consolidation teaches them better."""

    def measure(self, mean_length: float) -> None:
        """Settle the size of an iteration once warm-up has shown how long episodes are.

        It is a power of two, so that few sizes are compiled.
        """
        config = self._config
        self.mean_length = self._warm_up_length = mean_length
        iterations = config.iterations if self._deterministic else config.stochastic_iterations
        fitting = config.total_steps / (iterations * mean_length)
        if config.episodes_per_iteration is None:
            power = 2.0 ** np.round(np.log2(max(fitting, 1.0)))
            self.num_episodes = int(np.clip(power, FEWEST_EPISODES, MOST_EPISODES))
            self.affordable_share = min(1.0, fitting / FEWEST_EPISODES)

    def collected(self, num_steps: int, *, share: float = 1.0) -> None:
        """Note that an iteration has brought that many steps to learn from.

        Args:
            num_steps: The steps.
            share: Which share of the usual updates they are worth; `fewest_updates` holds anyway.
        """
        self._due_updates += self._updates_per_step(share) * num_steps

    def _updates_per_step(self, share: float) -> float:
        config = self._config
        if not self._deterministic:
            rate = config.updates_per_step
        else:
            rate = config.updates_per_episode / self._warm_up_length
        least = config.fewest_updates / config.total_steps
        return min(max(share * rate, least), config.most_updates / config.total_steps)

    def next_updates(self) -> int:
        """How many updates to make now; they count as made."""
        if self._config.updates_per_iteration is not None:
            return self._config.updates_per_iteration
        due = int(self._due_updates) // UPDATES_AT_ONCE * UPDATES_AT_ONCE
        self._due_updates -= due
        return due

    def ending_steps(self, num_executed: int) -> int:
        """Steps to keep for the end of the training.

        Args:
            num_executed: The steps of executing every command of the archive once, as far as the
                stored episodes tell.
        """
        config = self._config
        most = int(config.ending_share * config.total_steps)
        if not self._deterministic:
            return most
        stuck = min(self.num_stuck * self._step_limit, int(STUCK_SHARE * config.total_steps))
        return min(most, config.ending_executions * num_executed + stuck)

    def batch(self, size: int, steps_left: int) -> Batch:
        """As much of a batch as fits into the steps that are left; one episode at least."""
        count = int(np.clip(steps_left // max(self.mean_length, 1.0), 1, size))
        return Batch(count, max(1, min(self._step_limit, steps_left // count)))

    def to_json(self) -> dict[str, Any]:
        """What changes in a training, for a checkpoint."""
        return {
            "due_updates": self._due_updates,
            "warm_up_length": self._warm_up_length,
            "mean_length": self.mean_length,
            "num_episodes": self.num_episodes,
            "affordable_share": self.affordable_share,
            "num_stuck": self.num_stuck,
        }

    def from_json(self, content: Mapping[str, Any]) -> None:
        """Take over what `to_json` gave."""
        self._due_updates = content["due_updates"]
        self._warm_up_length = content["warm_up_length"]
        self.mean_length = content["mean_length"]
        self.num_episodes = content["num_episodes"]
        self.affordable_share = content["affordable_share"]
        self.num_stuck = content.get("num_stuck", 0)  # older checkpoints have none
