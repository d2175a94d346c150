"""The spec of an environment: objectives, spaces, limits and its true front."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from jaxtyping import Float

from pcn.checks import fits
from pcn.serialisation.spaces import space_from_json, space_to_json


@dataclass(frozen=True)
class Objective:
    """One objective. Returns are always maximised; `direction` is for display.

    A quantity to minimise (time, fuel) is rewarded with its negative.
    """

    name: str
    unit: str = ""
    direction: Literal["maximise", "minimise"] = "maximise"


@dataclass(frozen=True, eq=False)
class Front:
    """The best known returns of an environment, and how certain they are."""

    returns: Float[np.ndarray, "point objective"]
    status: Literal["proven", "best-known", "claimed"]
    source: str
    discount: float = 1.0
    """The discount of the returns; each discount has its own front."""


TYPES: Mapping[str, Any] = {
    "name": str,
    "objectives": list,
    "frame_stack": int,
    "action_names": list,
    "step_limit": int,
    "deterministic": bool,
    "masked_actions": bool,
    "reference_point": list,
}
"""Of the values of a spec in JSON."""


@dataclass(frozen=True, eq=False)
class EnvironmentSpec:
    """The properties of an environment that do not change while it runs.

    Specs are equal if compiled code is the same for them: the front, and texts such as the name,
    are not compared. Code that was compiled for an environment is used again for another one of the
    same class with an equal spec. `to_json` distinguishes any two specs.
    """

    name: str
    objectives: tuple[Objective, ...]
    observation_space: gym.Space[Any]
    action_space: gym.Space[Any]
    step_limit: int
    reference_point: tuple[float, ...]
    front: Front | None = None
    deterministic: bool = True
    """Whether the same actions always lead to the same episode, so that one execution is enough."""
    masked_actions: bool = False
    """Whether each step has a mask of the allowed actions."""
    action_names: tuple[str, ...] = ()
    """The name of each action of a `Discrete` space."""
    shown_space: gym.Space[Any] | None = None
    """The environment's own observations, where policies get others: pictures are reduced."""
    frame_stack: int = 1
    """How many of the last pictures a policy gets."""

    def __post_init__(self) -> None:
        if len(self.reference_point) != len(self.objectives):
            raise ValueError(
                f"{self.name}: reference_point has {len(self.reference_point)} objectives, "
                f"the environment has {len(self.objectives)}"
            )

    def _identity(self) -> tuple[object, ...]:
        return (
            self.objectives,
            repr(self.observation_space),
            repr(self.action_space),
            self.step_limit,
            self.reference_point,
            self.deterministic,
            self.masked_actions,
            repr(self.shown_space),
            self.frame_stack,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnvironmentSpec) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    @property
    def num_objectives(self) -> int:
        """How many numbers a reward has."""
        return len(self.objectives)

    @property
    def objective_names(self) -> tuple[str, ...]:
        """The objectives' names, in the order of the reward."""
        return tuple(objective.name for objective in self.objectives)

    @property
    def has_one_unit(self) -> bool:
        """Whether all objectives have the same unit and direction, or none has a unit."""
        return len({(objective.unit, objective.direction) for objective in self.objectives}) == 1

    def at_discount(self, discount: float) -> "EnvironmentSpec":
        """The spec for runs with this discount, without a front of another discount."""
        if self.front is None or self.front.discount == discount:
            return self
        return replace(self, front=None)

    def to_json(self) -> dict[str, Any]:
        """The whole spec as JSON; `from_json` reads it again exactly."""
        front = self.front
        return {
            "name": self.name,
            "objectives": [asdict(objective) for objective in self.objectives],
            "observation_space": space_to_json(self.observation_space),
            "shown_space": None if self.shown_space is None else space_to_json(self.shown_space),
            "frame_stack": self.frame_stack,
            "action_space": space_to_json(self.action_space),
            "action_names": list(self.action_names),
            "step_limit": self.step_limit,
            "deterministic": self.deterministic,
            "masked_actions": self.masked_actions,
            "reference_point": list(self.reference_point),
            "front": None
            if front is None
            else {
                "status": front.status,
                "source": front.source,
                "discount": front.discount,
                "returns": front.returns.tolist(),
            },
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "EnvironmentSpec":
        """The spec that `to_json` wrote; a ValueError names a value of a wrong type."""
        for name, kind in TYPES.items():
            if not fits(content[name], kind):
                raise ValueError(f"{name} is {content[name]!r}")
        if not all(fits(number, float) for number in content["reference_point"]):
            raise ValueError(f"reference_point is {content['reference_point']!r}")
        if min(content["step_limit"], content["frame_stack"]) < 1:
            raise ValueError("step_limit and frame_stack must be at least 1")
        front, shown_space = content["front"], content["shown_space"]
        return cls(
            name=content["name"],
            objectives=tuple(Objective(**objective) for objective in content["objectives"]),
            observation_space=space_from_json(content["observation_space"]),
            shown_space=None if shown_space is None else space_from_json(shown_space),
            frame_stack=content["frame_stack"],
            action_space=space_from_json(content["action_space"]),
            action_names=tuple(content["action_names"]),
            step_limit=content["step_limit"],
            deterministic=content["deterministic"],
            masked_actions=content["masked_actions"],
            reference_point=tuple(content["reference_point"]),
            front=None
            if front is None
            else Front(
                np.array(front["returns"], dtype=np.float64),
                front["status"],
                front["source"],
                front.get("discount", 1.0),  # absent in the folders of older runs
            ),
        )
