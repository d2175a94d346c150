"""Types that several modules share, and whether a value is of a type."""

import types
from typing import Any, Literal, Union, get_args, get_origin

import jax
import numpy as np
from jaxtyping import PRNGKeyArray, UInt32

AnyArray = jax.Array | np.ndarray
"""An array on the device, or one on the host that compiled code takes just as well."""

RandomKey = PRNGKeyArray | UInt32[np.ndarray, " 2"]
"""A JAX key, or its two raw numbers."""


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type such as those of configs: `int`, `tuple[float, ...] | None`.

    >>> fits(3, float), fits(True, int), fits((1.0, "a"), tuple[float, ...] | None)
    (True, False, False)
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(item, parts[0]) for item in value)
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def type_name(kind: Any) -> str:
    """The type as its annotation reads."""
    return kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
