"""Laws that every order listed in `ORDERS` obeys."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.pareto import (
    ORDERS,
    PARETO,
    Scaled,
    Scoreboard,
    dominates,
    non_dominated_mask,
    order_from_json,
)

quick = settings(max_examples=60, deadline=None)
every_order = pytest.mark.parametrize("name", ORDERS)
num_objectives = st.shared(st.integers(1, 4), key="objectives")
grid = st.integers(-4, 4).map(float)  # a coarse grid makes ties common
return_sets = arrays(np.float64, st.tuples(st.integers(1, 10), num_objectives), elements=grid)


@every_order
@given(returns=return_sets)
@quick
def test_nothing_dominates_itself(name, returns):
    order = ORDERS[name]()
    assert not any(order.dominates(one, one) for one in returns)


@every_order
@given(returns=return_sets)
@quick
def test_what_dominates_a_dominator_dominates_too(name, returns):
    order = ORDERS[name]()
    better = np.array([[order.dominates(a, b) for b in returns] for a in returns])
    assert np.all(better >= (better @ better))  # paths of two steps


@every_order
@given(returns=return_sets)
@quick
def test_pareto_dominance_implies_dominance(name, returns):
    order = ORDERS[name]()
    for a in returns:
        assert all(order.dominates(a, b) for b in returns if dominates(a, b))


@every_order
@given(returns=return_sets)
@quick
def test_the_front_is_what_nothing_dominates(name, returns):
    order = ORDERS[name]()
    expected = [not any(order.dominates(a, b) for a in returns) for b in returns]
    np.testing.assert_array_equal(order.non_dominated_mask(returns), expected)
    assert np.all(order.non_dominated_mask(returns) <= non_dominated_mask(returns))


@every_order
@given(returns=return_sets, data=st.data())
@quick
def test_criteria_never_fall_when_an_objective_grows_nor_move_further_than_their_margins(
    name, returns, data
):
    order = ORDERS[name]()
    moved = data.draw(arrays(np.float64, returns.shape, elements=st.integers(0, 3).map(float)))
    change = order.criteria(returns + moved) - order.criteria(returns)
    assert np.all(change >= -1e-12)
    assert np.all(change <= order.criteria_margins(moved) + 1e-12)


@every_order
@given(returns=return_sets, front=return_sets)
@quick
def test_covered_is_equal_or_dominated(name, returns, front):
    order = ORDERS[name]()
    expected = [
        any(np.array_equal(one, known) or order.dominates(known, one) for known in front)
        for one in returns
    ]
    np.testing.assert_array_equal(order.covered_mask(returns, front, 0.0), expected)


@every_order
@given(batches=st.lists(return_sets, min_size=1, max_size=4), capacity=st.integers(1, 12))
@quick
def test_a_scoreboard_follows_the_order_whatever_comes_and_goes(name, batches, capacity):
    order = ORDERS[name]()
    board = Scoreboard(batches[0].shape[1], criteria=order.criteria)
    returns = batches[0][:0]
    for batch in batches:
        board.add(batch)
        returns = np.concatenate([returns, batch])
        returns = returns[board.prune(capacity)]
        np.testing.assert_array_equal(board.returns, returns)
        np.testing.assert_array_equal(board.non_dominated_mask, order.non_dominated_mask(returns))
        copies = [sum(np.array_equal(a, b) for a in returns[:i]) for i, b in enumerate(returns)]
        np.testing.assert_array_equal(board.num_earlier_copies, copies)
        criteria = order.criteria(returns)
        front = criteria[board.non_dominated_mask]
        distance = np.linalg.norm(criteria[:, None] - front, axis=2).min(axis=1)
        # A crowded point scores twice its distance, and a little less.
        scores = -board.scores()
        assert np.all((np.abs(scores - distance) < 1e-9) | (np.abs(scores / 2 - distance) < 1e-3))


@every_order
def test_an_order_is_read_back_from_json_with_and_without_scales(name):
    for order in (ORDERS[name](), Scaled(ORDERS[name](), (1.0, 2.0), (3.0, 0.0))):
        assert order_from_json(json.loads(json.dumps(order.to_json()))) == order
    assert ORDERS[name]().to_json()["order"] == name


@pytest.mark.parametrize(
    "content", [{}, {"order": "best"}, {"order": "lorenz", "weight": 1}, {"order": 3}]
)
def test_a_damaged_order_is_a_value_error(content):
    with pytest.raises(ValueError, match="order"):
        order_from_json(content)


def test_the_first_order_is_paretos():
    assert next(iter(ORDERS)) == "pareto"
    assert ORDERS["pareto"]() == PARETO
