"""Which returns a model promises, compared with all routes that there are."""

import itertools

import numpy as np
import pytest

from pcn.algorithms.pcn.refinements.routing.route_graph import RouteGraph
from pcn.algorithms.pcn.refinements.routing.route_search import RouteSearch, Way
from pcn.algorithms.pcn.refinements.routing.seen_labels import SeenLabels, dominated_neighbours
from pcn.pareto import unique_front
from small_world import START, all_steps, fresh, played, step, taught

LONGEST = 9


def every_return(discount):
    """The returns of all lists of actions that end at the goal, by trying them all."""
    returns = []
    going = [((), np.zeros(2), START)]
    for time in range(LONGEST):
        longer = {}
        for actions, total, state in going:
            for action in range(4):
                after, reward, over = step(state, action)
                sum_ = total + discount**time * reward
                if over:
                    returns.append(sum_)
                else:  # of ways with the same outcome so far, one is enough
                    longer[after, tuple(sum_.round(9))] = ((*actions, action), sum_, after)
        going = list(longer.values())
    return np.array(returns)


def searched(discount, *, known=None, beam=1_000, ways=(), front=None):
    model = taught(fresh(), all_steps() if known is None else known)
    model.foresight = 1.0
    graph = RouteGraph(model, most_steps=1_000_000)
    search = RouteSearch(
        graph=graph,
        discount=discount,
        step_limit=LONGEST,
        fixed_length=False,
        beam=beam,
        labels_per_state=50,
        num_weights=4,
        patience=4,
        gain=0.0,
        scale=np.array([1.0, 2.0]),
    )
    start = int(graph.numbers_of(np.array([START], float))[0])
    front = np.zeros((0, 2)) if front is None else front
    rng = np.random.default_rng(0)
    return search.run(start, [way(graph) for way in ways], front, rng), graph


@pytest.mark.parametrize("discount", [0.9, 0.6, 1.0])
def test_a_wide_search_finds_the_front_of_all_routes(discount):
    truth = every_return(discount)
    truth = truth[unique_front(truth.round(9))]
    found, _ = searched(discount)
    mine = found.returns[unique_front(found.returns.round(9))]
    np.testing.assert_allclose(mine, truth, atol=1e-9)


@pytest.mark.parametrize("discount", [0.9, 1.0])
def test_routes_return_what_they_promise(discount):
    found, _ = searched(discount)
    for number, promised in enumerate(found.returns):
        total, over = played(found.route(number), discount)
        assert over
        np.testing.assert_allclose(total, promised)


def test_nothing_is_promised_that_is_known():
    truth = every_return(0.9)
    found, _ = searched(0.9, front=truth)
    assert len(found.returns) == 0


def test_a_search_goes_on_from_known_ways():
    """With a beam of one, only a known way through both items leads to the best return."""
    actions = np.array([2, 2, 3, 3])[:2]  # to the first item

    def way(graph):
        states = graph.numbers_of(np.array([[0.0, 2.0, 1.0, 0.0]]))
        return Way(states, np.array([2]), np.array([[0.9, 0.0]]), actions)

    found, graph = searched(0.9, beam=1, ways=[way])
    assert len(graph.way(int(graph.numbers_of(np.array([START], float))[0]), 0)) == 0
    for number, promised in enumerate(found.returns):
        np.testing.assert_allclose(played(found.route(number), 0.9)[0], promised)
    assert np.any(found.returns[:, 0] > 0.9)


def test_steps_of_which_nothing_is_known_are_offered():
    known = [one for one in all_steps() if one[0][:2] != (1, 1)]  # nothing about the middle
    found, _ = searched(0.9, known=known)
    assert found.unfamiliar
    for segment in found.unfamiliar:
        state = START
        actions = found.actions(segment)
        for action in actions[:-1]:
            state, _, over = step(state, int(action))
            assert not over
        untried = (state, int(actions[-1])) not in {(one[0], one[1]) for one in known}
        assert untried


def test_labels_are_compared_with_those_of_their_state_alone():
    seen = SeenLabels(num_values=2, labels_per_state=2)
    seen.add(np.array([3, 3, 7]), np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]))
    states = np.array([3, 3, 3, 7, 8])
    values = np.array([[1.0, 0.0], [0.5, 0.5], [-1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    assert seen.dominated(states, values).tolist() == [True, False, True, True, False]


def test_of_neighbours_the_dominated_are_dropped():
    states = np.array([1, 1, 1, 2])
    values = np.array([[2.0, 2.0], [3.0, 1.0], [1.0, 2.0], [0.0, 0.0]])
    assert dominated_neighbours(states, values).tolist() == [False, False, True, False]


def test_walks_count_steps_between_events():
    model = taught(fresh(), all_steps())
    graph = RouteGraph(model, most_steps=1_000_000)
    start = graph.numbers_of(np.array([START], float))
    (reach,) = graph.reaches(start)
    # From the corner: either item is two steps away (one ordinary step before it), the goal four.
    by_kind = {
        (tuple(reward), bool(over)): int(distance)
        for reward, over, distance in zip(
            reach.rewards, reach.terminated, reach.distances, strict=True
        )
    }
    assert by_kind == {((1.0, 0.0), False): 1, ((0.0, 1.0), False): 1, ((0.5, 0.5), True): 3}
    for one, other in itertools.pairwise(range(len(reach.places))):
        assert (reach.places[one], reach.actions[one]) != (
            reach.places[other],
            reach.actions[other],
        )
