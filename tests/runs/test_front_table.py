"""`front.csv`, with and without repeated executions."""

import dataclasses

import numpy as np
import pytest

from pcn.coverage import CoverageSet, agreeing_mask
from pcn.runs.front_table import coverage_set_of, table_of
from pcn.single_returns import SingleReturns

NAMES = ("low fuel", "horizon")


def measured(counts=(1, 5, 30), seed=0):
    rng = np.random.default_rng(seed)
    singles = SingleReturns(tuple(rng.normal(size=(count, 2)) for count in counts))
    return CoverageSet.measured(
        rng.normal(size=(3, 2)),
        np.array([3.0, 4.0, 5.0]),
        singles,
        tolerances=0.5,
        network=np.array([0, 0, 1]),
    )


def read(header, rows):
    return coverage_set_of(header, [[repr(cell) for cell in row] for row in rows], 3, 0.5)


@pytest.mark.parametrize("counts", [(1, 1, 1), (1, 5, 30)])
def test_what_is_written_is_read_again(counts):
    coverage_set = measured(counts)
    again = read(*table_of(coverage_set, NAMES))
    for field in dataclasses.fields(CoverageSet):
        if field.name != "singles":
            np.testing.assert_array_equal(
                getattr(again, field.name), getattr(coverage_set, field.name)
            )


def test_single_executions_have_the_columns_they_always_had():
    once = CoverageSet(np.ones((2, 2)), np.ones(2), np.ones((2, 2)), np.zeros((2, 2)))
    header, rows = table_of(once, ("a", "b"))
    assert header == [
        "id", "requested_a", "requested_b", "requested_horizon", "executed_a", "executed_b",
        "deviation_a", "deviation_b", "non_dominated",
    ]  # fmt: skip
    assert rows == [[n, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1] for n in range(2)]


def test_repeated_executions_say_how_certain_means_are():
    coverage_set = measured()
    header, rows = table_of(coverage_set, NAMES)
    row = dict(zip(header, rows[2], strict=True))
    single = coverage_set.singles.by_policy[2]
    assert (row["executions"], row["network"]) == (30, 1)
    assert row["executed_horizon"] == single[:, 1].mean()
    assert row["low_horizon"] == np.quantile(single[:, 1], 0.1)
    assert row["high_low fuel"] == np.quantile(single[:, 0], 0.9)
    # Student's quantile for 29 degrees of freedom is 2.045.
    error = single[:, 0].std(ddof=1) / np.sqrt(30)
    assert row["margin_low fuel"] >= 2.04 * error
    margins = [row[header.index("margin_horizon")] for row in rows]
    assert margins[0] == max(margins[1:])  # one execution


def test_a_table_that_lacks_a_column_is_told():
    header, rows = table_of(measured(), NAMES)
    with pytest.raises(ValueError, match="expected 6 numbers for each objective"):
        read(header, [row[:-1] for row in rows])


def test_means_of_the_same_policies_agree_within_their_intervals():
    agreeing = []
    for seed in range(0, 400, 2):
        one, other = (
            dataclasses.replace(measured((20, 20, 20), seed + extra), requested=np.zeros((3, 2)))
            for extra in range(2)
        )
        agreeing.append(agreeing_mask(one, other))
    # Two objectives at 95 % each; the interval of a difference is a little cautious.
    assert 0.88 < np.mean(agreeing) <= 1.0
    shifted = dataclasses.replace(other, executed=other.executed + 10)
    assert not agreeing_mask(one, shifted).any()
