from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pcn.pareto import crowding_distance, dominates, dominating_score
from pcn.pareto.dominating_score import in_extents

quick = settings(max_examples=50, deadline=None)

return_sets = arrays(
    np.float64,
    st.tuples(st.integers(1, 20), st.integers(1, 4)),
    elements=st.integers(-5, 5).map(float),  # a coarse grid makes ties common
)

# The paper's figure of the dominating score; the last point is the solid black one.
FIGURE = np.array(
    [[1, 1], [1.6, 2.8], [2.5, 3], [2.9, 2], [2.7, 2.9], [2, 4], [3, 3], [4, 1], [1.9, 3.5]]
)


def slow_score(returns, crowded_below=0.2, c=1e-5):
    front = [p for p in returns if not any(dominates(q, p) for q in returns)]
    copies = [sum(np.array_equal(q, p) for q in returns[:i]) for i, p in enumerate(returns)]
    originals = [i for i, num_copies in enumerate(copies) if num_copies == 0]
    crowding = dict(zip(originals, crowding_distance(returns[originals]), strict=True))
    scores = []
    for i, point in enumerate(returns):
        closeness = -min(np.sqrt(np.sum((point - q) ** 2)) for q in front)
        if copies[i]:
            scores.append(2 * (closeness - c * (1 + copies[i])))
        elif crowding[i] > crowded_below:
            scores.append(closeness)
        else:
            scores.append(2 * (closeness - c))
    return np.array(scores)


def test_the_black_point_of_the_papers_figure():
    # Its closest non-dominated neighbour is (2, 4); with a crowding distance of 0.467 it is
    # not crowded below 0.2, but would be below 0.5.
    closeness = -np.sqrt(0.1**2 + 0.5**2)
    assert dominating_score(FIGURE)[-1] == pytest.approx(closeness)
    assert dominating_score(FIGURE, crowded_below=0.5)[-1] == pytest.approx(2 * (closeness - 1e-5))


def test_the_front_of_the_papers_figure_scores_zero():
    assert dominating_score(FIGURE)[[5, 6, 7]].tolist() == [0, 0, 0]


@given(return_sets, st.sampled_from([0.2, 0.7]))
@quick
def test_score_equals_the_definition_written_as_loops(returns, crowded_below):
    np.testing.assert_allclose(
        dominating_score(returns, crowded_below=crowded_below),
        slow_score(returns, crowded_below),
        atol=1e-12,
    )


@pytest.mark.parametrize("num_objectives", [2, 3, 9])
def test_score_is_the_same_in_chunks(num_objectives, monkeypatch):
    returns = np.random.default_rng(0).integers(-4, 1, (50, num_objectives)).astype(float)
    expected = slow_score(returns)
    monkeypatch.setattr(import_module("pcn.pareto.dominating_score"), "_MOST_PAIRS_AT_ONCE", 20)
    np.testing.assert_allclose(dominating_score(returns), expected)


def test_crowded_unique_front_points_pay_the_penalty():
    # Public implementations double a zero here; the paper's formula is 2 (0 - c).
    front = np.array([[x, 20.0 - x] for x in range(21)])  # inner neighbours are 2/20 + 2/20 apart
    score = dominating_score(front, crowded_below=0.2 + 1e-9)
    assert score[0] == score[-1] == 0
    np.testing.assert_allclose(score[1:-1], -2e-5)


@given(return_sets, st.data())
@quick
def test_a_copy_always_scores_below_what_was_stored_before_it(returns, data):
    copied = data.draw(st.lists(st.integers(0, len(returns) - 1), min_size=1, max_size=5))
    stored = np.concatenate([returns, returns[copied]])
    score = dominating_score(stored)
    for later, point in enumerate(stored):
        for earlier in range(later):
            if np.array_equal(stored[earlier], point):
                assert score[later] < score[earlier]


@given(return_sets, st.data())
@quick
def test_copies_change_no_other_score(returns, data):
    copied = data.draw(st.lists(st.integers(0, len(returns) - 1), max_size=5))
    stored = np.concatenate([returns, returns[copied]])
    np.testing.assert_array_equal(
        dominating_score(stored)[: len(returns)], dominating_score(returns)
    )


@given(return_sets)
@quick
def test_a_copy_of_a_front_point_scores_below_every_distinct_front_point(returns):
    stored = np.concatenate([returns, returns])
    front_mask = np.array([not any(dominates(q, p) for q in returns) for p in returns])
    score = dominating_score(stored)
    copies = score[len(returns) :][front_mask]
    originals = np.unique(returns[front_mask], axis=0)
    first = [int(np.flatnonzero(np.all(returns == point, axis=1))[0]) for point in originals]
    assert copies.max() < score[first].min()


def test_copies_pay_even_where_nothing_counts_as_crowded():
    returns = np.array([[0.0, 0.0], [0.0, 0.0]])
    assert dominating_score(returns, crowded_below=-1.0, duplicate_penalty=1.0).tolist() == [0, -4]


def test_a_known_front_is_taken_at_its_word():
    returns = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert dominating_score(returns, front_mask=np.array([True, False])).tolist() == [0, -5]


def test_a_lone_point_scores_zero():
    assert dominating_score(np.array([[1.0, 2.0]])).tolist() == [0]
    assert dominating_score(np.zeros((0, 2))).shape == (0,)


def test_returns_count_in_extents_also_in_small_ones():
    columns = np.array([[1.0, 2.0], [1.0, 2.0]])
    scaled = in_extents(columns, np.array([0.5, 0.0]))
    assert scaled.tolist() == [[2.0, 4.0], [1.0, 2.0]]
    assert in_extents(columns, None) is columns
