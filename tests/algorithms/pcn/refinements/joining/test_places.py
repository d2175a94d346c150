"""Places, and which ways through them lead close to the front."""

import numpy as np
import pytest

from pcn.algorithms.pcn.refinements.joining.places import Places

EXACT = np.zeros(2)


def places_with(to, onward):
    """Two places; for each way its place, its vector, and its episode and step."""
    places = Places(np.ones(1), np.zeros(1), 2, most=10)
    places.numbers_of(np.array([[0.5], [1.5]]))
    for ways, given in ((places.to, to), (places.onward, onward)):
        for place, vector, source in given:
            ways.add(place, np.array(vector), source, EXACT)
    return places


@pytest.mark.parametrize(
    ("margin", "expected"),
    [(0.5, []), (1.5, [[0, 2, 8, 2]]), (4.5, [[0, 2, 8, 2], [1, 3, 9, 1]])],
)
def test_a_way_is_hopeful_if_it_leads_close_to_the_front_together_with_a_way_onward(
    margin, expected
):
    places = places_with(
        to=[(0, (0.0, -1.0), (0, 2)), (1, (0.0, -4.0), (1, 3))],
        onward=[(0, (3.0, -9.0), (7, 2)), (0, (2.0, -4.0), (8, 2)), (1, (3.0, -4.0), (9, 1))],
    )
    # Promised are (3, -10), (2, -5) and (3, -8); the front is better by 6, 1 and 4 units of cost.
    front = np.array([[2.0, -4.0], [3.0, -4.0]])
    hopeful = places.hopeful(front, np.array([0.0, margin]), 1.0, EXACT)
    assert hopeful.tolist() == expected


def test_a_way_that_is_equal_in_one_objective_must_be_close_in_the_others_too():
    places = places_with(to=[(0, (0.0, -1.0), (0, 2))], onward=[(0, (3.0, -9.0), (7, 2))])
    front = np.array([[3.0, -4.0]])  # promised is (3, -10)
    assert len(places.hopeful(front, np.array([5.0, 5.0]), 1.0, EXACT)) == 0
    assert len(places.hopeful(front, np.array([0.0, 6.0]), 1.0, EXACT)) == 1


def test_what_a_way_promises_is_discounted_from_its_step_on():
    places = places_with(to=[(0, (1.0, 0.0), (0, 2))], onward=[(0, (4.0, 0.0), (1, 5))])
    front = np.array([[2.0, 0.0]])  # what 1 + 0.5 ** 2 * 4 returns
    assert len(places.hopeful(front, np.array([0.1, 0.1]), 0.5, EXACT)) == 1
    assert len(places.hopeful(front + 0.2, np.array([0.1, 0.1]), 0.5, EXACT)) == 0


def test_a_place_from_which_no_way_is_known_is_not_hopeful():
    places = places_with(to=[(0, (9.0, 9.0), (0, 1))], onward=[(1, (9.0, 9.0), (1, 1))])
    assert len(places.hopeful(np.zeros((1, 2)), np.ones(2), 1.0, EXACT)) == 0
