"""Check that the files of a run hold what commands need."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pcn.errors import UserError


def check_metrics(metrics: Mapping[str, Any], path: Path) -> None:
    """Raise a `UserError` that names the first entry which is missing or of a wrong type."""

    def refuse(what: str) -> UserError:
        return UserError(f"{path} is damaged: {what}")

    for group in ("archive", "executed", "fidelity"):
        values = metrics.get(group)
        if not isinstance(values, dict):
            raise refuse(f"{group} is missing")
        needed: tuple[str, ...] = ("hypervolume", "cardinality")
        if group == "fidelity":
            needed = ("exact", "distance")
        if group != "archive" and "not_executed" in metrics:  # learnt from logged episodes alone
            needed = ()
        for name in needed:
            if name not in values:
                raise refuse(f"{group} has no {name}")
        for name in values:
            if not _is_fit(name, values[name], needed):
                raise refuse(f"{name} of {group} is {values[name]!r}")
    for name in ("policies", "steps", "seconds"):
        if name not in metrics:
            raise refuse(f"{name} is missing")
    for name in ("policies", "steps", "stopped"):
        if name in metrics and not _is_count(metrics[name]):
            raise refuse(f"{name} is {metrics[name]!r}")
    for name in ("seconds", "cpu_seconds"):
        if name in metrics and not _is_number(metrics[name]):
            raise refuse(f"{name} is {metrics[name]!r}")
    tolerances = metrics.get("tolerances", [])
    if not isinstance(tolerances, list) or not all(map(_is_number, tolerances)):
        raise refuse(f"tolerances is {tolerances!r}")
    phases = metrics.get("steps_by_phase", {})
    if not isinstance(phases, dict) or not all(map(_is_count, phases.values())):
        raise refuse(f"steps_by_phase is {phases!r}")
    made_with = metrics.get("made_with", {})
    if not isinstance(made_with, dict) or not all(
        isinstance(one, str) for one in made_with.values()
    ):
        raise refuse(f"made_with is {made_with!r}")
    if not isinstance(metrics.get("files", {}), dict):
        raise refuse(f"files is {metrics['files']!r}")


def _is_fit(name: str, value: Any, needed: tuple[str, ...]) -> bool:
    """Whether a metric has its usual type; required metrics must be finite."""
    if name == "hypervolume_interval":
        return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))
    if name == "executions":
        return isinstance(value, dict) and all(map(_is_count, value.values()))
    if name in needed:
        return _is_number(value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def refuse_other_settings(path: Path, now: Mapping[str, Any], then: Mapping[str, Any]) -> None:
    """Refuse a checkpoint whose settings differ from those of `config.json`."""
    changes = [
        f"{name} is {new!r} and was {old!r}" for name, (new, old) in _differences(now, then).items()
    ]
    if changes:
        more = f" and {len(changes) - 3} more" if len(changes) > 3 else ""
        raise UserError(
            f"{path} was written with other settings than those in config.json: "
            f"{', '.join(changes[:3])}{more}"
        )


def _differences(
    one: Mapping[str, Any], other: Mapping[str, Any], prefix: str = ""
) -> dict[str, tuple[Any, Any]]:
    """The names for which two nested mappings have different values."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in {**one, **other}:
        new, old = one.get(name), other.get(name)
        if isinstance(new, Mapping) and isinstance(old, Mapping):
            found |= _differences(new, old, f"{prefix}{name}.")
        elif new != old:
            found[prefix + name] = new, old
    return found
