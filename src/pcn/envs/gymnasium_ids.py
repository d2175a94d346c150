"""Gymnasium ids of our environments: `pcn/<name>-v0`."""

from typing import Any

import gymnasium as gym

from pcn.envs.registry import ENVIRONMENTS


def make(environment: str, render_mode: str | None = None, **arguments: Any) -> gym.Env[Any, Any]:
    """The entry point of every id; the environment is imported only here."""
    from pcn.envs.finding import find_environment

    return find_environment(environment, arguments).environment.person_view(render_mode)


def register_all() -> None:
    """Register an id for each environment of the table; importing `pcn` does it."""
    for name in ENVIRONMENTS:
        identity = f"pcn/{name}-v0"
        if identity in gym.registry:
            continue
        gym.register(
            id=identity,
            entry_point="pcn.envs.gymnasium_ids:make",
            # Its checker wants scalar rewards.
            disable_env_checker=True,
            kwargs={"environment": name},
        )
