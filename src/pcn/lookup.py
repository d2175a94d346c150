"""Functions and classes of the user's, by the name they have in a run's config."""

import importlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pcn.errors import UserError

HERE_ONLY = "#"
"""Marks the names of what only this process can find."""
_GIVEN: dict[str, Callable[..., Any]] = {}
"""What was handed over in Python and cannot be imported."""


def name_of(function: Callable[..., Any]) -> str:
    """A name under which `find_function` finds a function again.

    One that cannot be imported, as a lambda, gets a name that means it in this process only.
    """
    module = getattr(function, "__module__", type(function).__module__)
    name = f"{module}:{getattr(function, '__qualname__', type(function).__qualname__)}"
    with suppress(UserError):
        if _imported(name) is function:
            return name
    for known, given in _GIVEN.items():
        if given is function:
            return known
    name = f"{name}{HERE_ONLY}{len(_GIVEN)}"
    _GIVEN[name] = function
    return name


def found_again(name: str) -> bool:
    """Whether another process can find what has this name, too."""
    return HERE_ONLY not in name


def find_function(name: str) -> Callable[..., Any]:
    """What stands behind `module:function`."""
    if name in _GIVEN:
        return _GIVEN[name]
    if not found_again(name):
        raise UserError(f"cannot find {name}: it was given to another process in Python")
    found = _imported(name)
    if not callable(found):
        raise UserError(f"{name} is neither a function nor a class")
    function: Callable[..., Any] = found
    return function


def _imported(name: str) -> Any:
    module_name, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise UserError(f"cannot find {name}: {error}") from None
    return found
