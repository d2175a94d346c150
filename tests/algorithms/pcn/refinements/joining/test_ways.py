"""The best ways to places, or from them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pcn.algorithms.pcn.refinements.joining.ways import Ways

EXACT = np.zeros(2)
arrivals = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 4)), max_size=40)


def noted(found):
    ways = Ways(2)
    for _ in range(3):
        ways.open_place()
    for number, (place, *vector) in enumerate(found):
        vector = np.array(vector, np.float64)
        if not ways.covered_mask(np.array([place]), vector[None], EXACT)[0]:
            ways.add(place, vector, (number, 1), EXACT)
    return ways


@given(arrivals)
def test_a_place_keeps_the_first_way_of_each_non_dominated_vector(found):
    ways = noted(found)
    for place in range(3):
        vectors = [tuple(vector) for at, *vector in found if at == place]
        best = {
            one
            for one in vectors
            if not any(o != one and o[0] >= one[0] and o[1] >= one[1] for o in vectors)
        }
        kept = {
            tuple(ways.vectors[way].astype(int)): ways.sources[way, 0] for way in ways.at(place)
        }
        assert kept == {one: found.index((place, *one)) for one in best}


@given(arrivals, arrivals)
def test_covered_is_what_some_way_of_the_same_place_equals_or_dominates(found, asked):
    ways = noted(found)
    if not asked:
        return
    places = np.array([place for place, *_ in asked])
    vectors = np.array([vector for _, *vector in asked], np.float64)
    expected = [
        any(at == place and np.all(np.array(known) >= vector) for at, *known in found)
        for place, vector in zip(places, vectors, strict=True)
    ]
    assert ways.covered_mask(places, vectors, EXACT).tolist() == expected


@given(arrivals)
def test_the_layers_hold_each_way_once_and_at_most_one_of_a_place(found):
    ways = noted(found)
    layers = [
        list(zip(places.tolist(), numbers.tolist(), strict=True))
        for places, numbers in ways.layers()
    ]
    assert all(len({place for place, _ in layer}) == len(layer) for layer in layers)
    expected = [(place, way) for place in range(3) for way in ways.at(place)]
    assert sorted(pair for layer in layers for pair in layer) == sorted(expected)


def test_what_differs_by_less_than_the_tolerances_is_covered():
    ways = noted([(1, 2, 3)])
    asked = np.array([[2.05, 3.0], [2.2, 3.0]])
    assert ways.covered_mask(np.array([1, 1]), asked, np.full(2, 0.1)).tolist() == [True, False]


@given(arrivals)
def test_ways_survive_a_checkpoint(found):
    ways, restored = noted(found), Ways(2)
    restored.from_arrays(ways.to_arrays())
    for place in range(3):
        assert restored.at(place) == ways.at(place)
    restored.open_place()
    restored.add(3, np.ones(2), (99, 1), EXACT)
    assert [restored.sources[way, 0] for way in restored.at(3)] == [99]


def test_a_place_keeps_some_ways_that_are_as_good_and_then_replaces_the_oldest():
    ways = Ways(1)
    ways.open_place()
    for episode in range(4):
        ways.add(0, np.array([1.0]), (episode, 1), np.zeros(1), most_equal=2)
    assert sorted(ways.sources[ways.at(0), 0].tolist()) == [2, 3]
    ways.add(0, np.array([2.0]), (4, 1), np.zeros(1), most_equal=2)
    assert ways.sources[ways.at(0), 0].tolist() == [4]


def test_a_vector_may_have_to_be_covered_by_several_ways():
    ways = Ways(1)
    ways.open_place()
    place, vector = np.array([0]), np.array([[1.0]])
    covered = []
    for episode in range(3):
        ways.add(0, vector[0], (episode, 1), np.zeros(1), most_equal=3)
        covered.append(ways.covered_mask(place, vector, np.zeros(1), by=2)[0])
    assert covered == [False, True, True]
