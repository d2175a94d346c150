"""The probability of improvement, beside counting pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_runs import save_run
from pcn.experiments.comparison.comparison import compare
from pcn.experiments.comparison.improvement import improvement, improvements, square

samples = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=6)


@settings(max_examples=20)
@given(samples, samples)
def test_it_is_the_share_of_pairs_won_and_a_tie_is_half(mine, theirs):
    pairs = [(a > b) + (a == b) / 2 for a in mine for b in theirs]
    found = improvement("mine", "theirs", np.array(mine), np.array(theirs))
    assert found.probability.value == pytest.approx(sum(pairs) / len(pairs))
    mirrored = found.mirrored()
    assert mirrored.probability.value == pytest.approx(1 - found.probability.value)
    assert (mirrored.label, mirrored.other) == ("theirs", "mine")


def test_three_seeds_above_three_others_happen_by_chance_in_two_of_twenty_orders():
    found = improvement("a", "b", np.array([4.0, 5.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    assert found.probability == (1.0, 1.0, 1.0)
    assert found.p_value == pytest.approx(2 / 20)


def test_what_single_precision_cannot_tell_apart_is_a_tie():
    mine = np.array([198.85, 198.85])
    found = improvement("a", "b", mine * (1 + 1e-8), mine)
    assert found.probability.value == 0.5


def test_lower_is_better_where_the_metric_says_so(tmp_path):
    front = [[0, 4], [2, 2], [4, 0]]
    for seed in range(2):
        save_run(tmp_path / f"good-{seed}", front, front=front, seed=seed)
        save_run(tmp_path / f"bad-{seed}", [[0, 4]], front=front, seed=seed, algorithm="ra")
    (comparison,), _ = compare([tmp_path])
    found = improvements(comparison, "epsilon")
    assert [(one.label, one.other) for one in found] == [("pcn", "ra"), ("ra", "pcn")]
    np.testing.assert_array_equal(square(found, ["pcn", "ra"]), [[np.nan, 1], [0, np.nan]])
