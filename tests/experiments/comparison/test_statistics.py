"""Means over seeds and their intervals, beside hand calculations."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcn.experiments.comparison.statistics import interquartile_mean, summary


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30))
def test_the_interquartile_mean_leaves_out_a_quarter_at_either_end(numbers):
    cut = len(numbers) // 4
    middle = sorted(numbers)[cut : len(numbers) - cut]
    expected = sum(middle) / len(middle)
    assert float(interquartile_mean(np.array(numbers, float))) == pytest.approx(expected)


def test_one_lucky_seed_moves_the_mean_and_not_the_interquartile_mean():
    found = summary(np.array([1.0, 1.0, 1.0, 1.0, 1001.0]))
    assert found.mean.value == 201.0
    assert found.iqm.value == 1.0
    assert found.deviation == pytest.approx(200_000**0.5)  # (4 * 200**2 + 800**2) / 4
    assert summary(np.array([3.0])).deviation == 0.0
    assert (found.lowest, found.highest, found.num_seeds) == (1.0, 1001.0, 5)


def test_intervals_are_the_quantiles_of_all_resamples():
    values = [0.0, 1.0, 2.0, 4.0, 8.0]
    resampled = [sum(chosen) / 5 for chosen in itertools.product(values, repeat=5)]  # all 3,125
    low, high = np.quantile(resampled, [0.025, 0.975])
    found = summary(np.array(values))
    assert found.mean.low == pytest.approx(low, abs=0.2)
    assert found.mean.high == pytest.approx(high, abs=0.2)


def test_equal_seeds_have_an_interval_without_width_and_one_seed_has_none():
    assert summary(np.full(5, 3.0)).iqm == (3.0, 3.0, 3.0)
    alone = summary(np.array([3.0]))
    assert alone.mean.value == alone.iqm.value == 3.0
    assert math.isnan(alone.mean.low)
    assert math.isnan(alone.iqm.high)


def test_the_same_seeds_have_the_same_interval_each_time():
    values = np.array([1.0, 5.0, 2.0, 8.0, 3.0])
    assert summary(values) == summary(values)
