"""How many ordinary steps can follow one another, from each place."""

import numpy as np
from jaxtyping import Int

ENDLESS = np.iinfo(np.int64).max
"""Instead of a number of steps: a walk can come back to where it was, and go on for ever."""


def longest_walks(
    next_places: Int[np.ndarray, "around place action"],
) -> Int[np.ndarray, "around place"]:
    """The most steps in a row from each place; a negative next place is no step.

    Places from which all steps lead to places that are done are done themselves, one step farther
    from the end. What is never done leads to a circle.

    >>> longest_walks(np.array([[[1, -1], [2, 2], [-1, -1], [3, 0]]])).tolist()[0][:3]
    [2, 1, 0]
    """
    num_around, num_places, _ = next_places.shape
    around, place, action = np.nonzero(next_places >= 0)
    start = around * num_places + place
    end = around * num_places + next_places[around, place, action]
    by_end = np.argsort(end, kind="stable")
    first = np.searchsorted(end[by_end], np.arange(num_around * num_places + 1))
    before = start[by_end]  # the places before a place stand together
    num_open = np.bincount(start, minlength=num_around * num_places)
    longest = np.full(num_around * num_places, ENDLESS, np.int64)
    done, steps = np.flatnonzero(num_open == 0), 0
    while len(done):
        longest[done] = steps
        counts = first[done + 1] - first[done]
        shifts = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        leading = before[np.repeat(first[done], counts) + shifts]
        np.subtract.at(num_open, leading, 1)
        candidates = np.unique(leading)
        done, steps = candidates[num_open[candidates] == 0], steps + 1
    return longest.reshape(num_around, num_places)
