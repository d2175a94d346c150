"""Where Gymnasium environments come from: ids, classes and functions."""

import importlib
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym

from pcn.envs.failures import close_all, failure_of
from pcn.errors import UserError

MakeEnv = Callable[..., gym.Env[Any, Any]]

EXTRA = "pip install 'pcn[gymnasium]' brings what MO-Gymnasium's ids need"
"""Advice if a package is missing."""
IN_EXTRA = ("box2d", "mujoco", "highway_env", "imageio", "packaging", "pandas")


class GymnasiumSource:
    """How to create a Gymnasium environment, and one instance for inspection."""

    def __init__(self, name: str, make: MakeEnv, instance: gym.Env[Any, Any] | None = None) -> None:
        self.name = name
        self.make = make
        self._instance = instance

    @classmethod
    def by_id(cls, name: str) -> "GymnasiumSource":
        """The environment with this id in Gymnasium or MO-Gymnasium."""
        return cls(name, partial(_make_by_id, name))

    def instance(self) -> gym.Env[Any, Any]:
        """The instance, created when first needed and then kept."""
        if self._instance is None:
            try:
                made: Any = self.make()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever the environment's own code raises
                raise UserError(f"cannot make {self.name}: {error}{missing_hint(error)}") from None
            if not isinstance(made, gym.Env):
                raise UserError(f"{self.name} makes {made!r}, which is not a Gymnasium environment")
            self._instance = made
        _refuse_missing_spaces(self._instance, self.name)
        return self._instance

    def close(self) -> None:
        """Close the instance, if there is one."""
        if self._instance is not None:
            instance, self._instance = self._instance, None
            close_all([instance], self.name)


def _refuse_missing_spaces(environment: gym.Env[Any, Any], name: str) -> None:
    """Raise a `UserError` if a space was never set, or is not one of Gymnasium's."""
    for space in ("observation_space", "action_space"):
        found = getattr(environment, space, None)
        if not isinstance(found, gym.Space):
            raise UserError(
                f"{name}: its {space} is {found!r}, which is not a space of Gymnasium; set "
                f"self.{space} in __init__, as in gymnasium.spaces.Discrete(4)"
            )
    other = _other_space(environment.observation_space)
    if other is not None:
        raise UserError(
            f"{name}: observations of {other} cannot be learnt from; make them Box, Discrete, "
            "MultiDiscrete, MultiBinary, or Dict or Tuple of these, in a wrapper"
        )


def _other_space(space: gym.Space[Any]) -> gym.Space[Any] | None:
    """The first part of a space that has no fixed number of numbers, such as words; None if all
    have.
    """
    spaces = gym.spaces
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.values() if isinstance(space, spaces.Dict) else space
        return next((other for part in parts if (other := _other_space(part)) is not None), None)
    known = spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary
    return None if isinstance(space, known) else space


class TellingFailures(gym.Wrapper[Any, Any, Any, Any]):
    """The same environment; its failures are reported in one sentence."""

    def __init__(self, env: gym.Env[Any, Any], name: str) -> None:
        super().__init__(env)
        self._name = name

    def reset(self, **options: Any) -> Any:
        """Begin an episode."""
        return self._explaining_failures(super().reset, **options)

    def step(self, action: Any) -> Any:
        """Take a step."""
        return self._explaining_failures(super().step, action)

    def render(self) -> Any:
        """Make a picture."""
        return self._explaining_failures(super().render)

    def _explaining_failures(
        self, method: Callable[..., Any], *arguments: Any, **options: Any
    ) -> Any:
        try:
            return method(*arguments, **options)
        except (UserError, KeyboardInterrupt):
            raise
        except BaseException as error:  # whatever the environment's own code raises
            raise UserError(f"{self._name}: {failure_of(error)}") from error


def missing_hint(error: BaseException) -> str:
    """What to install, where a package is missing."""
    if not isinstance(error, ImportError | gym.error.DependencyNotInstalled):
        return ""
    if any(package in str(error).lower() for package in IN_EXTRA):
        return f"; {EXTRA}"
    module = (getattr(error, "name", None) or "").partition(".")[0]
    return f"; install the package that brings it, perhaps `pip install {module}`" if module else ""


def is_gymnasium_id(name: str) -> bool:
    """Whether Gymnasium or MO-Gymnasium has an environment with that id."""
    importlib.import_module("mo_gymnasium")
    return name in gym.registry


def vector_reward_ids() -> list[str]:
    """The ids of MO-Gymnasium's environments, for suggestions; `is_gymnasium_id` registers them."""
    return [name for name, spec in gym.registry.items() if "mo_gymnasium" in str(spec.entry_point)]


def _make_by_id(name: str, **options: Any) -> gym.Env[Any, Any]:
    importlib.import_module("mo_gymnasium")  # registers its ids
    with warnings.catch_warnings():
        # Many environments give the bounds of their boxes in double precision.
        warnings.filterwarnings("ignore", message=".*precision lowered by casting.*")
        return gym.make(name, disable_env_checker=True, **options)
