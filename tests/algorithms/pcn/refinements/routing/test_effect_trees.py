"""Decision trees that are right about everything they were shown."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcn.algorithms.pcn.refinements.routing.effect_trees import EffectTrees, best_split, coded


def impurity(labels):
    """The Gini impurity of some labels, times their number."""
    _, counts = np.unique(labels, return_counts=True)
    return len(labels) - np.sum(counts**2) / len(labels) if len(labels) else 0.0


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 4))
def test_the_best_split_is_the_best_of_all_splits(seed, num_steps, num_parts):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, size=(num_steps, num_parts))
    labels = rng.integers(0, 3, size=num_steps)
    splits = [
        (part, code)
        for part in range(num_parts)
        for code in range(codes[:, part].min(), codes[:, part].max())
    ]
    found = best_split(codes, labels)
    if not splits:
        assert found is None
        return

    def left_over(split):
        below = codes[:, split[0]] <= split[1]
        return impurity(labels[below]) + impurity(labels[~below])

    assert left_over(found) == pytest.approx(min(map(left_over, splits)))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60))
def test_trees_are_right_about_all_they_were_grown_from(seed, num_steps):
    rng = np.random.default_rng(seed)
    observations = np.unique(rng.integers(0, 4, size=(num_steps, 4)).astype(float), axis=0)
    labels = rng.integers(0, 3, size=len(observations))
    trees = EffectTrees(num_actions=2, num_parts=4)
    trees.grow(1, observations, labels)
    leaves = trees.leaves(np.ones(len(labels), int), observations)
    np.testing.assert_array_equal(trees.labels[leaves], labels)
    other_action = trees.leaves(np.zeros(len(labels), int), observations)
    assert np.all(trees.labels[other_action] == -1)  # nothing was seen of it


def test_more_values_than_codes_are_still_separated():
    rng = np.random.default_rng(0)
    observations = rng.permutation(500).astype(float)[:, None]
    labels = (observations[:, 0] % 7 == 0).astype(int)
    codes, thresholds = coded(observations)
    assert codes.max() == len(thresholds[0]) < 500
    trees = EffectTrees(num_actions=1, num_parts=1)
    trees.grow(0, observations, labels)
    leaves = trees.leaves(np.zeros(500, int), observations)
    np.testing.assert_array_equal(trees.labels[leaves], labels)


def test_the_parts_that_decide_about_a_leaf_are_those_on_the_way_to_it():
    observations = np.array(
        [[a, b, c] for a in range(2) for b in range(2) for c in range(2)], float
    )
    labels = np.where(observations[:, 0] == 1, 2, observations[:, 2]).astype(int)  # b never matters
    trees = EffectTrees(num_actions=1, num_parts=3)
    trees.grow(0, observations, labels)
    leaves = trees.leaves(np.zeros(8, int), observations)
    tested = trees.tested_parts()[leaves]
    assert not tested[:, 1].any()
    for row, changed in ((0, 2), (7, 0)):  # changing a part that does not decide leads nowhere else
        for part in range(3):
            other = observations[row].copy()
            other[part] = 1 - other[part]
            moved = trees.leaves(np.zeros(1, int), other[None])[0] != leaves[row]
            assert not (moved and not tested[row, part])
        assert tested[row, changed]
