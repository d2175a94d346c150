from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.pareto import Scoreboard, dominating_score, non_dominated_mask, rounded
from pcn.pareto.dominating_score import nearest

quick = settings(max_examples=100, deadline=None)

num_objectives = st.shared(st.integers(1, 4), key="objectives")
batches = st.lists(
    arrays(
        np.float64,
        st.tuples(st.integers(0, 12), num_objectives),
        elements=st.integers(-4, 4).map(float),  # a coarse grid makes ties common
    ),
    min_size=1,
    max_size=6,
)


def assert_up_to_date(board, returns):
    np.testing.assert_array_equal(board.returns, returns)
    np.testing.assert_array_equal(board.non_dominated_mask, non_dominated_mask(returns))
    np.testing.assert_array_equal(board.scores(), dominating_score(returns))
    assert len(board) == len(returns)


@given(batches, st.data())
@quick
def test_scores_equal_those_from_scratch_whatever_comes_and_goes(batches, data):
    board, returns = Scoreboard(batches[0].shape[1]), batches[0][:0]
    for batch in batches:
        board.add(batch)
        returns = np.concatenate([returns, batch])
        assert_up_to_date(board, returns)
        size = len(returns)
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
        board.keep(mask)
        returns = returns[mask]
        assert_up_to_date(board, returns)


@given(batches, st.integers(0, 15))
@quick
def test_pruning_keeps_the_best_scores(batches, capacity):
    board, returns = Scoreboard(batches[0].shape[1]), batches[0][:0]
    for batch in batches:
        board.add(batch)
        returns = np.concatenate([returns, batch])
        score = dominating_score(returns)
        kept_index = board.prune(capacity)
        assert len(kept_index) == min(capacity, len(returns))
        assert np.all(np.diff(kept_index) > 0)
        dropped = np.delete(score, kept_index)
        if dropped.size and kept_index.size:
            assert dropped.max() <= score[kept_index].min()
        returns = returns[kept_index]
        assert_up_to_date(board, returns)


@pytest.mark.parametrize("num_objectives", [2, 3, 9])
def test_many_iterations_of_adding_and_pruning_stay_exact(num_objectives):
    rng = np.random.default_rng(num_objectives)
    board = Scoreboard(num_objectives)
    for _ in range(30):
        board.add(rng.normal(size=(10, num_objectives)))
        board.prune(60)
        assert_up_to_date(board, board.returns.copy())


@given(batches, st.integers(1, 15))
@quick
def test_pruning_never_drops_a_return_while_it_holds_a_copy(batches, capacity):
    returns = np.concatenate(batches)
    board = Scoreboard(returns.shape[1], duplicate_penalty=0.0)  # even where scores tie
    board.add(returns)
    kept_index = set(board.prune(capacity).tolist())
    for copy in kept_index:
        for earlier in range(copy):
            if np.array_equal(returns[earlier], returns[copy]):
                assert earlier in kept_index


def test_a_copy_of_a_front_point_is_dropped_before_a_crowded_front_point():
    front = np.array([[x, 40.0 - x] for x in range(41)])  # crowded but for its two ends
    board = Scoreboard(2)
    board.add(np.concatenate([front[20:21], front]))
    assert board.prune(41).tolist() == [i for i in range(42) if i != 21]


def test_among_equally_good_points_the_oldest_goes():
    front = np.array([[x, 40.0 - x] for x in range(41)])
    board = Scoreboard(2)
    board.add(front)
    assert board.prune(39).tolist() == [0, *range(3, 41)]


def test_a_pruned_front_point_hands_over_to_what_it_dominated():
    board = Scoreboard(2)
    board.add(np.array([[5.0, 5.0], [4.0, 4.0], [3.0, 4.0]]))
    board.keep(np.array([False, True, True]))
    assert board.non_dominated_mask.tolist() == [True, False]
    assert board.scores().tolist() == [0.0, -1.0]


def test_noise_below_the_tolerance_makes_a_copy():
    returns = np.array([[1.0, 2.0], [2.0, 1.0], [1.0 + 1e-7, 2.0 - 1e-7], [0.0, 0.0]])
    board = Scoreboard(2, tolerances=1e-3)
    board.add(returns)
    assert_up_to_date(board, rounded(returns, 1e-3))
    assert board.num_earlier_copies.tolist() == [0, 0, 1, 0]
    assert board.prune(2).tolist() == [0, 1]


def test_adding_measures_no_more_distances_than_new_points_times_points(monkeypatch):
    scoreboard = import_module("pcn.pareto.scoreboard")
    measured = []

    def counting_nearest(columns, from_index, to_index):
        measured.append(len(from_index) * len(to_index))
        return nearest(columns, from_index, to_index)

    monkeypatch.setattr(scoreboard, "nearest", counting_nearest)
    front = np.array([[x, 50.0 - x] for x in range(51)])
    board = Scoreboard(2)
    board.add(np.concatenate([front, front - 1, front - 2]))
    measured.clear()
    board.add(front[:2] - 0.5)  # dominated: looks for its neighbour in the front
    assert sum(measured) == 2 * 51
    measured.clear()
    board.add(np.array([[51.0, -1.0]]))  # joins the front: the 104 dominated points look at it
    assert sum(measured) == 104
    measured.clear()
    board.keep(np.arange(len(board)) < 153)  # without the last three, which are nobody's nearest
    assert sum(measured) == 0


def test_options_reach_the_score():
    returns = np.array([[x, 10.0 - x] for x in range(11)])
    board = Scoreboard(2, crowded_below=0.5, duplicate_penalty=0.25)
    board.add(returns)
    expected = dominating_score(returns, crowded_below=0.5, duplicate_penalty=0.25)
    np.testing.assert_array_equal(board.scores(), expected)
    assert expected.min() == -0.5


def test_a_single_point_survives_every_step():
    board = Scoreboard(2)
    board.add(np.array([[1.0, 2.0]]))
    assert board.scores().tolist() == [0]
    assert board.prune(1).tolist() == [0]
    with pytest.raises(ValueError, match="negative, got -1"):
        board.prune(-1)
