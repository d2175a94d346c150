"""A coverage set as a table of numbers: the content of `front.csv`."""

from typing import Any

import numpy as np
from jaxtyping import Float

from pcn.coverage import CoverageSet
from pcn.pareto import PARETO, AbstractOrder, Tolerances

REPEATED = ("margin", "low", "high")
"""Kinds of columns, one per objective, of tables of policies that were executed more than once."""
UNEXECUTED = "NOT_EXECUTED"
"""The prefix of the columns of returns where nothing was executed."""
COUNTS = ("executions", "network")
"""Further columns of these tables."""


def table_of(
    coverage_set: CoverageSet, names: tuple[str, ...]
) -> tuple[list[str], list[list[float]]]:
    """Header and rows; columns about repeated executions only where there are any."""

    def columns(*kinds: str) -> list[str]:
        return [f"{kind}_{name}" for kind in kinds for name in names]

    numbers = np.arange(len(coverage_set))
    # Readers of the file must not take the returns of logged episodes for executed ones.
    executed = "executed" if coverage_set.is_executed else UNEXECUTED
    header = ["id", *columns("requested"), "requested_horizon", *columns(executed, "deviation")]
    parts: list[Any] = [
        numbers,
        coverage_set.requested,
        coverage_set.horizons,
        coverage_set.executed,
        coverage_set.deviation,
    ]
    if coverage_set.is_repeated or coverage_set.network.any() or not coverage_set.is_executed:
        header += [*columns(*REPEATED), *COUNTS]
        parts += [getattr(coverage_set, name) for name in (*REPEATED, *COUNTS)]
    table: list[list[float]] = [[] for _ in numbers]
    for part in parts:
        for row, values in zip(table, part.tolist(), strict=True):
            row.extend(values if isinstance(values, list) else [values])
    for row, on_front in zip(table, coverage_set.front_mask.tolist(), strict=True):
        row.append(int(on_front))
    return [*header, front_column(coverage_set.order)], table


def front_column(order: AbstractOrder) -> str:
    """The name of the last column: which policies no other one dominates, and by which order.

    >>> from pcn.pareto import LambdaLorenz
    >>> front_column(PARETO), front_column(LambdaLorenz())
    ('non_dominated', 'lambda_lorenz_non_dominated')
    """
    return "non_dominated" if order == PARETO else f"{order.name}_non_dominated".replace("-", "_")


def coverage_set_of(
    header: list[str],
    rows: list[list[str]],
    num_policies: int,
    tolerances: Tolerances,
    order: AbstractOrder = PARETO,
) -> CoverageSet:
    """The coverage set of a table; a ValueError says what is wrong with it.

    Tables of earlier versions have the first columns only.
    """
    header = [name.replace(f"{UNEXECUTED}_", "executed_", 1) for name in header]
    count = sum(name.startswith("executed_") for name in header)
    table = np.array(rows, dtype=np.float64)
    per_objective = 3 if "executions" not in header else 6
    others = 3 if "executions" not in header else 5
    if count == 0 or table.ndim != 2 or table.shape[1] != per_objective * count + others:
        raise ValueError(f"expected {per_objective} numbers for each objective and {others} more")
    if not np.isfinite(table).all():
        raise ValueError("a number is missing")
    if table[:, 0].tolist() != list(range(num_policies)):
        raise ValueError(f"expected the policies 0 to {num_policies - 1} in order")

    def columns(kind: str) -> Float[np.ndarray, "policy objective"]:
        return table[:, [name.startswith(f"{kind}_") for name in header]]

    def column(name: str) -> Float[np.ndarray, " policy"]:
        return table[:, header.index(name)]

    more: dict[str, Any] = {}
    if "executions" in header:
        more = {kind: columns(kind) for kind in REPEATED}
        more |= {name: column(name).astype(np.int64) for name in COUNTS}
    requested = table[:, 1 : 1 + count]  # `requested_horizon` begins like these
    return CoverageSet(
        requested=requested,
        horizons=table[:, 1 + count],
        executed=columns("executed"),
        deviation=columns("deviation"),
        tolerances=tolerances,
        order=order,
        recorded_front=table[:, -1] > 0 if order.compares_samples else None,
        **more,
    )
