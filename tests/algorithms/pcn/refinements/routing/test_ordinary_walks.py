"""Longest walks, compared with all walks that there are."""

import numpy as np

from pcn.algorithms.pcn.refinements.routing.ordinary_walks import ENDLESS, longest_walks


def longest(next_places, place, most):
    """The length of the longest walk, by trying all of them up to `most` steps."""
    if most == 0:
        return 0
    onward = {int(after) for after in next_places[place] if after >= 0}
    return max((1 + longest(next_places, after, most - 1) for after in onward), default=0)


def test_walks_are_as_long_as_the_longest_of_all():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        places = int(rng.integers(1, 7))
        next_places = rng.integers(0, places, size=(2, places, 2))
        next_places[rng.random(next_places.shape) < 0.5] = -2
        found = longest_walks(next_places)
        for around in range(2):
            for place in range(places):
                # A walk of more steps than there are places has been somewhere twice.
                steps = longest(next_places[around], place, places + 1)
                wanted = ENDLESS if steps > places else steps
                assert found[around, place] == wanted
                seen.add(wanted)
    assert {0, 1, 2, 3, ENDLESS} <= seen
