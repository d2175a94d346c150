"""How many directions RA ascends in: the points of a lattice on the simplex of weights."""

import numpy as np

from pcn.errors import UserError
from pcn.memory import refuse_without_memory
from pcn.pareto import AUTHORS_INTERVALS, num_lattice_points

PAPER_STEPS = 100_000
"""Steps per direction in the authors' runs on grids."""


def settled_intervals(num_objectives: int, intervals: int | None) -> int:
    """The given intervals, or the authors'; an error beyond their numbers of objectives."""
    if intervals is not None:
        return intervals
    if num_objectives in AUTHORS_INTERVALS:
        return AUTHORS_INTERVALS[num_objectives]
    last = max(AUTHORS_INTERVALS)
    proposed = max(AUTHORS_INTERVALS[last] - (num_objectives - last), 1)
    count = num_lattice_points(num_objectives, proposed)
    raise UserError(
        f"with {num_objectives} objectives ra needs a value for intervals: {proposed} would "
        f"make {count:,} policies, "
        f"{count * PAPER_STEPS:.1e} steps at the paper's {PAPER_STEPS:,} each; "
        f"intervals=1 makes {num_objectives}, one per objective"
    )


def refuse_too_many(num_objectives: int, intervals: int, num_weights: int) -> None:
    """Refuse more policies with so many weights each than there is memory for."""
    num_policies = num_lattice_points(num_objectives, intervals)
    policy_bytes = num_weights * np.dtype(np.float32).itemsize
    refuse_without_memory(
        # Weights, two moments, the best weights so far, and a gradient of each objective.
        num_policies * policy_bytes * (4 + num_objectives),
        f"RA with {num_policies:,} policies of {policy_bytes:,} bytes",
        "give fewer intervals",
    )
