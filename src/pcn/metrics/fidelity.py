"""Fidelity: how well executed returns agree with requested ones."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pcn.pareto import Tolerances, spread


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
    tolerances: Tolerances | Float[np.ndarray, "command objective"],
) -> Bool[np.ndarray, " command"]:
    """Mark the commands whose executed return is at least the requested one in every objective.

    `tolerances` are one number, one for each objective, or one for each command and objective.
    """
    return np.all(requested - executed <= tolerances, axis=1)


def fidelity(
    requested: Float[np.ndarray, "command objective"],
    executed: Float[np.ndarray, "command objective"],
    *,
    tolerances: Tolerances | Float[np.ndarray, "command objective"],
    num_missed: int = 0,
) -> Fidelity:
    """Compare requested with executed returns, command by command.

    The shortfall of a command is how much its executed return misses the requested one by, in
    the objective where it misses most, as a share of that objective's range over all requested
    returns; where these agree, of the largest number among them. More than was requested is no
    shortfall, and neither is a difference of up to `tolerances`, before normalising. `num_missed`
    more commands have no executed return: each counts as not reached, with a shortfall of 1.

    >>> requested = np.array([[1.0, 4.0], [3.0, 2.0]])
    >>> fidelity(requested, np.array([[1.0, 4.0], [2.0, 9.0]]), tolerances=0.0)
    Fidelity(exact=0.5, distance=0.25)
    """
    if requested.shape != executed.shape:
        raise ValueError(f"requested has shape {requested.shape}, executed {executed.shape}")
    if len(requested) == 0:
        raise ValueError("requested has no commands")
    reached = reached_mask(requested, executed, tolerances)
    excess = requested - executed > tolerances
    extent = spread(requested)
    largest = np.abs(np.concatenate([requested, executed])).max(axis=0)
    extent = np.where(extent > 0, extent, largest)
    gap = (requested - executed) / np.where(extent > 0, extent, 1.0)
    shortfall = np.where(excess, gap, 0.0).max(axis=1)
    reached = np.append(reached, np.zeros(num_missed, bool))
    shortfall = np.append(shortfall, np.ones(num_missed))
    return Fidelity(exact=float(np.mean(reached)), distance=float(shortfall.mean()))
