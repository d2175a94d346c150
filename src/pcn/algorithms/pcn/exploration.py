"""Randomness in exploring episodes: how often, from when on, and how persistently."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.config import PCNConfig


@dataclass(frozen=True)
class Randomness:
    """How random each episode of a batch is; see `ConditionedAgent` for the fields."""

    noise: Float[np.ndarray, " episode"]
    steps_until_wandering: Float[np.ndarray, " episode"]
    repeat: Float[np.ndarray, " episode"]

    @classmethod
    def none(cls, num_episodes: int) -> "Randomness":
        """Follow the command to the end."""
        zeros = np.zeros(num_episodes)
        return cls(zeros, np.full(num_episodes, np.inf), zeros)

    @classmethod
    def of_warm_up(
        cls, num_episodes: int, config: PCNConfig, rng: np.random.Generator
    ) -> "Randomness":
        """Wander from the first step on."""
        zeros = np.zeros(num_episodes)
        return cls(zeros, zeros, _repeat(num_episodes, config, rng))

    @classmethod
    def of_exploration(
        cls, horizons: Float[np.ndarray, " episode"], config: PCNConfig, rng: np.random.Generator
    ) -> "Randomness":
        """A little noise in each episode, and some that wander off part of the way."""
        num_episodes = len(horizons)
        wanders = rng.uniform(size=num_episodes) < config.wander_fraction
        return cls(
            noise=config.action_noise * rng.uniform(size=num_episodes) ** 2,
            steps_until_wandering=np.where(wanders, np.floor(rng.uniform(0, horizons)), np.inf),
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
