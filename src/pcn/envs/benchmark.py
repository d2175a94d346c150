"""A benchmark: a named environment with the budget and settings it is trained with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pcn.envs.environment import AbstractEnvironment


@dataclass(frozen=True)
class Benchmark:
    """How to make an environment, and what training on it needs to know."""

    name: str
    make: Callable[[], AbstractEnvironment]
    summary: str
    total_steps: int
    """Default budget of environment steps (the paper's)."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Per preset of PCN: what this benchmark sets differently, and nothing else."""
    baselines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Per baseline (`mones`, `ra`): what this benchmark sets differently from its defaults."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What the environment was made with, defaults and findings included."""
    why: str = ""
    """The reason for what `settings` changes in the default preset."""

    def settings_for(self, algorithm: str, preset: str) -> Mapping[str, Any]:
        """What this benchmark sets differently for an algorithm under a preset of it."""
        of_presets = {"default": self.baselines.get(algorithm, {})}
        return (self.settings if algorithm == "pcn" else of_presets).get(preset, {})
