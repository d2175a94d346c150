"""Checks of the values that users give; each error names the value and what was expected."""

import math
import types
from typing import Any, Literal, Union, get_args, get_origin

from pcn.errors import UserError


def at_least(config: Any, least: float, *names: str) -> None:
    """Refuse values that are smaller; None is left alone."""
    for name in names:
        if getattr(config, name) is None:
            continue
        value = _finite(config, name)
        if value < least:
            kind = "not be negative" if least == 0 else f"be at least {least}"
            raise UserError(f"{name} must {kind}, got {value}")


def at_most(config: Any, most: float, *names: str) -> None:
    """Refuse values that are larger; None is left alone."""
    for name in names:
        if getattr(config, name) is None:
            continue
        value = _finite(config, name)
        if value > most:
            raise UserError(f"{name} must be at most {most}, got {value}")


def finite_numbers(config: Any, *names: str) -> None:
    """Refuse lists in which anything is not a finite number; None is left alone."""
    for name in names:
        values = getattr(config, name)
        if values is not None and not all(math.isfinite(value) for value in values):
            raise UserError(f"{name} must be finite numbers, got {values}")


def positive(config: Any, *names: str) -> None:
    """Refuse values that are not above zero."""
    for name in names:
        value = _finite(config, name)
        if not value > 0:
            raise UserError(f"{name} must be positive, got {value}")


def share(config: Any, *names: str) -> None:
    """Refuse values that are not above zero and at most one."""
    for name in names:
        value = _finite(config, name)
        if not 0 < value <= 1:
            raise UserError(f"{name} must be above 0 and at most 1, got {value}")


def one_of(config: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a word that is none of the choices."""
    if getattr(config, name) not in choices:
        known = " or ".join(choices)
        raise UserError(f"{name} must be {known}, got {getattr(config, name)!r}")


def _finite(config: Any, name: str) -> float:
    value: float = getattr(config, name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value):
        raise UserError(f"{name} must be a finite number, got {value}")
    return value


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
