"""The interface of every environment."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import gymnasium as gym

from pcn.envs.observations import ObservationReader, reader_for
from pcn.envs.spec import EnvironmentSpec

Watcher = Callable[[int], None]
"""A function that is called with the number of steps just taken, while episodes run."""


class AbstractEnvironment(ABC):
    """An environment that algorithms can be trained on.

    Two kinds can be run: compiled environments, written in JAX, and Gymnasium environments. A new
    kind is a new subclass and a line of `run_episodes` in `rollout/`. Logged data stand for a third
    one, which only has a spec.
    """

    spec: EnvironmentSpec
    """Objectives, spaces, limits and whatever else does not change while it runs."""

    @abstractmethod
    def person_view(self, render_mode: str | None = None) -> gym.Env[Any, Any]:
        """A single Gymnasium environment to step by hand; it is truncated at the step limit."""

    def reader(self) -> ObservationReader:
        """The reader that turns observations of `person_view` into those of policies."""
        return reader_for(self.spec)

    def prepare(self) -> None:  # noqa: B027 (most kinds have nothing to prepare)
        """Do everything that can fail before training begins, such as starting worker processes."""

    def watch(self, watcher: Watcher | None) -> None:  # noqa: B027 (most kinds are quick)
        """Call `watcher` with the steps as they are taken, where an episode may take long.

        The rollout counts whole episodes; this is for showing progress.
        """

    def close(self) -> None:  # noqa: B027 (most kinds have nothing to close)
        """Release what the environment holds, such as worker processes."""
