"""Checks that configs make of their values; each error names the value and what was expected."""

import math
from typing import Any

from pcn.errors import UserError


def at_least(config: Any, least: float, *names: str) -> None:
    """Refuse values that are smaller."""
    for name in names:
        value = _finite(config, name)
        if value < least:
            kind = "not be negative" if least == 0 else f"be at least {least}"
            raise UserError(f"{name} must {kind}, got {value}")


def at_most(config: Any, most: float, *names: str) -> None:
    """Refuse values that are larger."""
    for name in names:
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
    if not math.isfinite(value):
        raise UserError(f"{name} must be a finite number, got {value}")
    return value
