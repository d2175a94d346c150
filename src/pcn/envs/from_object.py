"""Environments that users pass as objects, or name as `module:Name`."""

from typing import Any

import gymnasium as gym

from pcn.envs.environment import AbstractEnvironment
from pcn.envs.gymnasium_source import GymnasiumSource, missing_hint
from pcn.errors import UserError


def as_environment(thing: Any, name: str) -> AbstractEnvironment | GymnasiumSource:
    """Turn an object of the user into an environment.

    An `AbstractEnvironment` is returned as it is. A class or a function is called without
    arguments. If that makes an `AbstractEnvironment`, it is the result. If it makes a Gymnasium
    environment, the result is a `GymnasiumSource` that holds it, so that no second one is created
    for inspection. A class of Gymnasium environments is not called: its instance is created when
    needed. `name` is used in errors and for Gymnasium environments; the others have a name in their
    spec.
    """
    if isinstance(thing, AbstractEnvironment):
        return thing
    if not callable(thing):
        raise UserError(
            f"{name} is {thing!r}; expected a compiled environment, or a class or function that "
            "makes an environment"
        )
    if isinstance(thing, type) and issubclass(thing, gym.Env):
        return GymnasiumSource(name, thing)
    try:
        made = thing()
    except (UserError, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever the user's own code raises
        raise UserError(f"cannot make {name}: {error}{missing_hint(error)}") from None
    if isinstance(made, AbstractEnvironment):
        return made
    if isinstance(made, gym.Env):
        return GymnasiumSource(name, thing, made)
    raise UserError(
        f"{name} makes {made!r}, which is neither a compiled nor a Gymnasium environment"
    )
