"""Exploring episodes: how random their actions are, and how long they may take."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.config import PCNConfig

ALWAYS_PATIENT = 0.1
"""Share of iterations in which episodes may go on to the step limit to the very end."""


@dataclass(frozen=True)
class Randomness:
    """How random each episode of a batch is; see `ConditionedAgent` for the fields."""

    noise: Float[np.ndarray, " episode"]
    repeat: Float[np.ndarray, " episode"]

    @classmethod
    def none(cls, num_episodes: int) -> "Randomness":
        """Follow the command to the end."""
        zeros = np.zeros(num_episodes)
        return cls(zeros, zeros)

    @classmethod
    def of_warm_up(
        cls, num_episodes: int, config: PCNConfig, rng: np.random.Generator
    ) -> "Randomness":
        """Every action is random."""
        return cls(np.ones(num_episodes), _repeat(num_episodes, config, rng))

    @classmethod
    def of_exploration(
        cls, num_episodes: int, config: PCNConfig, rng: np.random.Generator
    ) -> "Randomness":
        """Hardly any noise in many episodes, a lot in a few."""
        return cls(
            noise=config.action_noise * rng.uniform(size=num_episodes) ** 2,
            repeat=_repeat(num_episodes, config, rng),
        )


def _repeat(
    num_episodes: int, config: PCNConfig, rng: np.random.Generator
) -> Float[np.ndarray, " episode"]:
    """Between hardly ever switching to another action and choosing anew at every step.

    A walk that changes its mind at every step stays near its start; one that keeps going sees
    the far corners. A mixture depends on neither being right.
    """
    if not config.sticky_actions:
        return np.zeros(num_episodes)
    return np.clip(0.95 - rng.uniform(size=num_episodes) ** 2, 0.0, 1.0)


def most_steps(
    horizons: Float[np.ndarray, " episode"],
    progress: float,
    config: PCNConfig,
    rng: np.random.Generator,
) -> int | None:
    """When to break episodes off; long wandering is worth its steps only now and then."""
    if config.patience is None:
        return None
    # Wandering discovers trade-offs, early; short episodes refine them, later.
    if rng.uniform() < max(1 - progress, ALWAYS_PATIENT):
        return None
    return int(config.patience * horizons.max()) + 1
