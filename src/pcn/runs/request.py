"""A request: what to train, before defaults, preset and recipe are applied."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pcn.algorithms.config
    import pcn.envs.environment

CHECKPOINT_SECONDS = 10.0
"""Least time between two checkpoints."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to train and where to record it; `carry_out` carries it out.

    Hyperparameters come from the algorithm's defaults, its preset, the recipe of the environment
    and `hyperparameters`; later ones override earlier ones. A `config` replaces the first three.
    """

    environment: "str | pcn.envs.environment.AbstractEnvironment | Callable[[], Any] | None" = None
    """The name of one of `ENVIRONMENTS`, a Gymnasium id or `module:Name`; or the object itself: an
    environment, or a class or function that makes one. None where there is only a dataset."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of the environment, if it takes any."""
    algorithm: str | None = None
    """The name of one of `ALGORITHMS`; by default the one that `config` belongs to, or `pcn`."""
    preset: str | None = None
    """The name of one of the algorithm's presets; `default` by default."""
    config: "pcn.algorithms.config.AlgorithmConfig | None" = None
    """Every hyperparameter, as the algorithm's own config."""
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    """Single hyperparameters by name; functions and classes are given as objects."""
    dataset: "str | Path | None" = None
    """Logged episodes to begin with: another run's folder, an npz file or a Minari dataset."""
    only_execute: bool = False
    """With a dataset: whether the environment is only for executing the final policies."""
    seed: int = 0
    """Seeds the network, the environment and every choice of the algorithm."""
    out: Path | None = None
    """The run's folder, which must not exist; without it nothing is recorded."""
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    """Least time between two checkpoints."""
