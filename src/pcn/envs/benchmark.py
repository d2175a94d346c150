"""A benchmark: a named environment with the budget and settings it is trained with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pcn.envs.environment import Environment


@dataclass(frozen=True)
class Benchmark:
    """How to make an environment, and what training on it needs to know."""

    name: str
    make: Callable[[], Environment]
    summary: str
    total_steps: int
    """Default budget of environment steps (the paper's)."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Per preset: what this benchmark sets differently from the preset, and nothing else."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What the environment was made with, defaults and findings included."""
    why: str = ""
    """The reason for what `settings` changes in the default preset."""
