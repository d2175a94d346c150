"""The directions that RA ascends in: a lattice on the simplex of weights."""

from itertools import combinations
from math import comb

import numpy as np
from jaxtyping import Float

from pcn.errors import UserError
from pcn.memory import refuse_without_memory

INTERVALS = {2: 12, 3: 11, 4: 10, 5: 9}
"""Per number of objectives: 13, 78, 286 and 715 directions, as in the authors' runs."""
PAPER_STEPS = 100_000
"""Steps per direction in the authors' runs on grids."""


def num_directions(num_objectives: int, intervals: int) -> int:
    """How many points the lattice has.

    >>> [num_directions(count, intervals) for count, intervals in INTERVALS.items()]
    [13, 78, 286, 715]
    """
    return comb(intervals + num_objectives - 1, num_objectives - 1)


def settled_intervals(num_objectives: int, intervals: int | None) -> int:
    """The given intervals, or the authors'; an error beyond their numbers of objectives."""
    if intervals is not None:
        return intervals
    if num_objectives in INTERVALS:
        return INTERVALS[num_objectives]
    last = max(INTERVALS)
    proposed = max(INTERVALS[last] - (num_objectives - last), 1)
    count = num_directions(num_objectives, proposed)
    raise UserError(
        f"with {num_objectives} objectives ra needs to be told its intervals: {proposed} would "
        f"make {count:,} policies, "
        f"{count * PAPER_STEPS:.1e} steps at the paper's {PAPER_STEPS:,} each; "
        f"intervals=1 makes {num_objectives}, one per objective"
    )


def refuse_too_many(num_objectives: int, intervals: int, num_weights: int) -> None:
    """Refuse more policies with so many weights each than there is memory for."""
    num_policies = num_directions(num_objectives, intervals)
    policy_bytes = num_weights * np.dtype(np.float32).itemsize
    refuse_without_memory(
        # Weights, two moments, the best weights so far, and a gradient of each objective.
        num_policies * policy_bytes * (4 + num_objectives),
        f"RA with {num_policies:,} policies of {policy_bytes:,} bytes",
        "give fewer intervals",
    )


def directions(num_objectives: int, intervals: int) -> Float[np.ndarray, "direction objective"]:
    """All weights that are multiples of 1 / intervals and add up to one.

    >>> directions(2, 2)
    array([[0. , 1. ],
           [0.5, 0.5],
           [1. , 0. ]])
    """
    # Stars and bars: each way to place the bars is one way to share out the intervals.
    places = range(intervals + num_objectives - 1)
    bars = np.array(list(combinations(places, num_objectives - 1)), dtype=np.int64)
    ends = np.full((len(bars), 1), intervals + num_objectives - 1)
    edges = np.concatenate([np.full((len(bars), 1), -1), bars, ends], axis=1)
    return (np.diff(edges, axis=1) - 1) / intervals
