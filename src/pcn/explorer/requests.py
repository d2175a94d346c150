"""Check the requests of the page; only checked values reach the library."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pcn.errors import UserError
from pcn.explorer.shown_runs import ShownRun

MOST_BYTES = 16_384
"""The longest request."""
LARGEST_SEED = 2**31 - 1
LARGEST_RETURN = 1e12


@dataclass(frozen=True)
class PolicyRequest:
    """One policy of one run, by their numbers in the document."""

    run: int
    policy: int
    seed: int = 0


@dataclass(frozen=True)
class CommandRequest:
    """A return that need not be on the front; without a horizon, that of the nearest policy."""

    run: int
    desired_return: tuple[float, ...]
    horizon: float | None
    seed: int = 0


def read_policy_request(content: Any, runs: Sequence[ShownRun]) -> PolicyRequest:
    """The request for a policy; a `UserError` says what is wrong with it."""
    fields = _fields(content, {"run", "policy", "seed"})
    run = _whole(fields, "run", 0, len(runs) - 1)
    last = len(runs[run].run.coverage_set) - 1
    seed = _whole({"seed": 0, **fields}, "seed", 0, LARGEST_SEED)
    return PolicyRequest(run, _whole(fields, "policy", 0, last), seed)


def read_rollout_request(content: Any, runs: Sequence[ShownRun]) -> PolicyRequest | CommandRequest:
    """The request for a rollout: of a policy, or of a desired return."""
    if not isinstance(content, dict) or "desired_return" not in content:
        return read_policy_request(content, runs)
    fields = _fields(content, {"run", "desired_return", "horizon", "seed"})
    run = _whole(fields, "run", 0, len(runs) - 1)
    spec = runs[run].run.spec
    desired, horizon = fields["desired_return"], fields.get("horizon")
    if (
        not isinstance(desired, list)
        or len(desired) != spec.num_objectives
        or not all(_is_number(value, LARGEST_RETURN) for value in desired)
    ):
        raise UserError(f"desired_return must be {spec.num_objectives} numbers")
    if horizon is not None and not (
        _is_number(horizon, spec.step_limit) and 1 <= horizon <= spec.step_limit
    ):
        raise UserError(f"horizon must be a number from 1 to {spec.step_limit}")
    return CommandRequest(
        run,
        tuple(float(value) for value in desired),
        None if horizon is None else float(horizon),
        _whole({"seed": 0, **fields}, "seed", 0, LARGEST_SEED),
    )


def _fields(content: Any, known: set[str]) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise UserError("a request must be a JSON object")
    unknown = sorted(content.keys() - known)
    if unknown:
        raise UserError(f"a request has no field {unknown[0][:40]!r}")
    return content


def _whole(fields: dict[str, Any], name: str, least: int, most: int) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise UserError(f"{name} must be a whole number from {least} to {most}")
    return value


def _is_number(value: Any, largest: float) -> bool:
    # NaN is at most nothing; a whole number may be too large to become a real one.
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and abs(value) <= largest
