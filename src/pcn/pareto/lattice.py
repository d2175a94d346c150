"""A lattice on the simplex of weights: its points and their number."""

from itertools import combinations
from math import comb

import numpy as np
from jaxtyping import Float

AUTHORS_INTERVALS = {2: 12, 3: 11, 4: 10, 5: 9}
"""Intervals between two corners for 2 to 5 objectives, in the runs of RA by the paper's authors."""


def num_lattice_points(num_objectives: int, intervals: int) -> int:
    """How many points the lattice has.

    >>> [num_lattice_points(*numbers) for numbers in AUTHORS_INTERVALS.items()]
    [13, 78, 286, 715]
    """
    return comb(intervals + num_objectives - 1, num_objectives - 1)


def lattice_points(num_objectives: int, intervals: int) -> Float[np.ndarray, "point objective"]:
    """All weights that are multiples of 1 / intervals and add up to one.

    >>> lattice_points(2, 2)
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
