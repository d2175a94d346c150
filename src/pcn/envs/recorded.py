"""An environment that exists only as recorded episodes."""

from typing import Any

import gymnasium as gym

from pcn.envs.environment import AbstractEnvironment
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError


class RecordedEnvironment(AbstractEnvironment):
    """Has the spec of the episodes, and cannot be stepped."""

    def __init__(self, spec: EnvironmentSpec) -> None:
        self.spec = spec

    def person_view(self, render_mode: str | None = None) -> gym.Env[Any, Any]:
        """Raise a `UserError`: there is nothing to step."""
        del render_mode
        raise UserError(
            f"{self.spec.name} exists only as logged episodes: give an environment with "
            "--execute-on to run its policies"
        )
