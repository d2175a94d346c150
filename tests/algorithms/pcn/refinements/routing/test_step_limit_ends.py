"""Routes that end at the step limit, compared with all lists of actions of that length."""

import itertools

import numpy as np
import pytest

from pcn.algorithms.pcn.refinements.routing.effects import Effects
from pcn.algorithms.pcn.refinements.routing.outcomes import Outcomes
from pcn.algorithms.pcn.refinements.routing.route_graph import RouteGraph
from pcn.algorithms.pcn.refinements.routing.route_search import RouteSearch
from pcn.pareto import unique_front
from small_world import START, step

LENGTH = 7


def endless(cost):
    """The small world without an end: the goal is a cell like others, and every step costs."""

    def stepped(state, action):
        after, reward, over = step(state, action)
        return after, reward - 0.5 * over - np.array([0.0, cost])

    return stepped, START


def climbing(cost):
    """Time is observed. Waiting earns nothing, and each of two jobs can be done once."""

    def stepped(state, action):
        time, *done, _ = state
        reward = np.array([0.0, -cost])
        if action < 2 and not done[action]:
            done[action] = 1
            reward = reward + np.eye(2)[action] * (1 + time)  # better later
        return (time + 1, *done, 0), reward

    return stepped, (0, 0, 0, 0)


def every_return(stepped, start, discount):
    """The returns of all lists of actions, by trying them all."""
    returns = []
    for actions in itertools.product(range(4), repeat=LENGTH):
        state, total = start, np.zeros(2)
        for time, action in enumerate(actions):
            state, reward = stepped(state, action)
            total = total + discount**time * reward
        returns.append(total)
    return np.array(returns)


def all_steps(stepped, start):
    """Every step that an episode of this length can have."""
    steps, states = [], {start}
    for _ in range(LENGTH):
        new = [(state, action, *stepped(state, action)) for state in states for action in range(4)]
        states = {after for _, _, after, _ in new}
        steps += new
    return steps


def searched(stepped, start, discount):
    model = Effects(num_parts=4, num_objectives=2, num_actions=4)
    states, actions, after, rewards = zip(*all_steps(stepped, start), strict=True)
    outcomes = Outcomes(np.array(after, float), np.array(rewards), np.zeros(len(after), bool))
    model.learn(np.array(states, float), np.array(actions), outcomes)
    graph = RouteGraph(model, most_steps=1_000_000)
    search = RouteSearch(
        graph=graph,
        discount=discount,
        step_limit=LENGTH,
        fixed_length=True,
        beam=1_000,
        labels_per_state=50,
        num_weights=4,
        patience=4,
        gain=0.0,
        scale=np.array([1.0, 2.0]),
    )
    first = int(graph.numbers_of(np.array([start], float))[0])
    return search.run(first, [], np.zeros((0, 2)), np.random.default_rng(0))


@pytest.mark.parametrize("world", [endless, climbing])
@pytest.mark.parametrize(("discount", "cost"), [(1.0, 0.0), (1.0, 0.25), (0.9, 0.25)])
def test_episodes_of_fixed_length_have_the_front_of_all_lists_of_actions(world, discount, cost):
    stepped, start = world(cost)
    truth = every_return(stepped, start, discount)
    truth = truth[unique_front(truth.round(9))]
    found = searched(stepped, start, discount)
    mine = found.returns[unique_front(found.returns.round(9))]
    np.testing.assert_allclose(mine, truth, atol=1e-4)
    for number, promised in enumerate(found.returns):
        route, state, total = found.route(number), start, np.zeros(2)
        assert len(route) == LENGTH
        for time, action in enumerate(route.tolist()):
            state, reward = stepped(state, action)
            total = total + discount**time * reward
        np.testing.assert_allclose(total, promised, atol=1e-4)
