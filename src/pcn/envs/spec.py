"""What an environment says about itself: objectives, spaces, limits and its true front."""

from dataclasses import dataclass
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Objective:
    """One objective. Returns are always maximised; `direction` is how a person thinks of it.

    A quantity to minimise (time, fuel) is rewarded with its negative.
    """

    name: str
    unit: str = ""
    direction: Literal["maximise", "minimise"] = "maximise"


@dataclass(frozen=True)
class Front:
    """The best returns known for an environment, and how sure we are of them."""

    returns: Float[np.ndarray, "point objective"]
    status: Literal["proven", "best-known"]
    source: str


@dataclass(frozen=True)
class EnvironmentSpec:
    """Everything about an environment that does not change while it runs."""

    name: str
    objectives: tuple[Objective, ...]
    observation_space: gym.Space[Any]
    action_space: gym.Space[Any]
    step_limit: int
    reference_point: tuple[float, ...]
    front: Front | None = None
    deterministic: bool = True
    """Same state and action, same outcome: one execution per command is enough."""
    action_names: tuple[str, ...] = ()
    """What each action of a `Discrete` space does, for people."""

    def __post_init__(self) -> None:
        if len(self.reference_point) != len(self.objectives):
            raise ValueError(
                f"{self.name}: reference_point has {len(self.reference_point)} objectives, "
                f"the environment has {len(self.objectives)}"
            )

    @property
    def num_objectives(self) -> int:
        """How many numbers a reward has."""
        return len(self.objectives)

    @property
    def objective_names(self) -> tuple[str, ...]:
        """The objectives' names, in the order of the reward."""
        return tuple(objective.name for objective in self.objectives)
