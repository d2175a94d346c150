"""Gymnasium ids of our environments: `pcn/<benchmark>-v0`."""

from typing import Any

import gymnasium as gym

from pcn.envs.registry import BENCHMARKS, FAMILIES, find_benchmark


def make(benchmark: str, render_mode: str | None = None, **arguments: Any) -> gym.Env[Any, Any]:
    """The entry point behind every id."""
    return find_benchmark(benchmark, **arguments).make().person_view(render_mode)


def register_all() -> None:
    """Make the ids known; importing `pcn` does it."""
    for name in (*BENCHMARKS, *FAMILIES):
        identity = f"pcn/{name}-v0"
        if identity in gym.registry:
            continue
        gym.register(
            id=identity,
            entry_point="pcn.envs.gymnasium_ids:make",
            # Its checker wants scalar rewards.
            disable_env_checker=True,
            kwargs={"benchmark": name},
        )
