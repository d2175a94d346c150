"""Gymnasium ids of the compiled environments: `pcn/<benchmark>-v0`."""

from typing import Any

import gymnasium as gym

from pcn.envs.gymnasium_env import CompiledGymEnv
from pcn.envs.registry import BENCHMARKS, find_benchmark


def make(benchmark: str, render_mode: str | None = None) -> CompiledGymEnv:
    """The entry point behind every id."""
    return CompiledGymEnv(find_benchmark(benchmark).make(), render_mode)


def register_all() -> None:
    """Make the ids known; Gymnasium calls this when it starts, through our entry point."""
    for name, benchmark in BENCHMARKS.items():
        identity = f"pcn/{name}-v0"
        if identity in gym.registry:
            continue
        arguments: dict[str, Any] = {"benchmark": name}
        gym.register(
            id=identity,
            entry_point="pcn.envs.gymnasium_ids:make",
            max_episode_steps=benchmark.make().spec.step_limit,
            # Its checker wants scalar rewards.
            disable_env_checker=True,
            kwargs=arguments,
        )
