"""Public names that are imported when they are first used."""

import importlib
from collections.abc import Mapping
from typing import Any


def attribute_of(package: str, name: str, modules: Mapping[str, str]) -> Any:
    """Return `name` from the module that `modules` names; for the `__getattr__` of a package."""
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return getattr(importlib.import_module(modules[name]), name)
