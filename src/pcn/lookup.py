"""Functions and classes of the user's, by the name they have in a run's config."""

import importlib
from collections.abc import Callable
from typing import Any

from pcn.errors import UserError

_GIVEN: dict[str, Callable[..., Any]] = {}
"""What was handed over in Python."""


def name_of(function: Callable[..., Any]) -> str:
    """A name under which `find_function` finds a function again.

    In another process only functions at the top of an importable module can be found.
    """
    module = getattr(function, "__module__", type(function).__module__)
    name = f"{module}:{getattr(function, '__qualname__', type(function).__qualname__)}"
    _GIVEN[name] = function
    return name


def find_function(name: str) -> Callable[..., Any]:
    """What stands behind `module:function`."""
    if name in _GIVEN:
        return _GIVEN[name]
    module_name, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise UserError(f"cannot find {name}: {error}") from None
    if not callable(found):
        raise UserError(f"{name} is neither a function nor a class")
    function: Callable[..., Any] = found
    return function
