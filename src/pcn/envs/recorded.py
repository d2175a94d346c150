"""An environment of which there are only recorded episodes."""

from typing import Any

import gymnasium as gym

from pcn.envs.environment import AbstractEnvironment
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError


class RecordedEnvironment(AbstractEnvironment):
    """Says what the episodes say, and cannot be stepped."""

    def __init__(self, spec: EnvironmentSpec) -> None:
        self.spec = spec

    def person_view(self, render_mode: str | None = None) -> gym.Env[Any, Any]:
        """Refuse: there is nothing to step."""
        del render_mode
        raise UserError(
            f"{self.spec.name} is known from logged episodes only: give an environment with "
            "--execute-on to run its policies"
        )
