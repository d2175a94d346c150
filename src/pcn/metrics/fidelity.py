"""Fidelity: how well executed returns agree with requested ones."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pcn.metrics.normalise import normalised


@dataclass(frozen=True)
class Fidelity:
    """How well executed returns match the requested ones."""

    exact: float
    """Share of commands whose executed return equals or dominates the requested one."""
    distance: float
    """Mean over the commands of the largest normalised shortfall; see `fidelity`."""


def reached_mask(
    requested: Float[np.ndarray, "command objective"],
    executed: Float[np.ndarray, "command objective"],
    tolerance: float | Float[np.ndarray, "..."],
) -> Bool[np.ndarray, " command"]:
    """Mark the commands whose executed return is at least the requested one in every objective.

    `tolerance` is one number, or one for each objective, or for each command and objective.
    """
    return np.all(requested - executed <= tolerance, axis=1)


def fidelity(
    requested: Float[np.ndarray, "command objective"],
    executed: Float[np.ndarray, "command objective"],
    *,
    tolerance: float | Float[np.ndarray, "..."],
) -> Fidelity:
    """Compare requested with executed returns, command by command.

    The shortfall of a command is how much its executed return misses the requested one by, in
    the objective where it misses most, as a share of that objective's range over all requested
    returns (of 1 where they agree). More than was requested is no shortfall, and neither is a
    difference of up to `tolerance` in an objective, before normalising.

    >>> requested = np.array([[1.0, 4.0], [3.0, 2.0]])
    >>> fidelity(requested, np.array([[1.0, 4.0], [2.0, 9.0]]), tolerance=0.0)
    Fidelity(exact=0.5, distance=0.25)
    """
    if requested.shape != executed.shape:
        raise ValueError(f"requested has shape {requested.shape}, executed {executed.shape}")
    if len(requested) == 0:
        raise ValueError("requested has no commands")
    reached = reached_mask(requested, executed, tolerance)
    excess = requested - executed > tolerance
    gap = normalised(requested, front=requested) - normalised(executed, front=requested)
    shortfall = np.where(excess, gap, 0.0).max(axis=1)
    return Fidelity(exact=float(np.mean(reached)), distance=float(shortfall.mean()))
