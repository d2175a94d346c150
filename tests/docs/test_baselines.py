"""The p-values in docs/results/baselines.md follow from the means and deviations beside them."""

import math
import re

import pytest
from scipy.stats import ttest_ind_from_stats

from doc_pages import text_of

ROWS = re.findall(
    r"^\| ((?:MONES|RA), [^|]*) \| ([\d.]+) ± ([\d.]+) \| ([\d.]+) ± ([\d.]+) \| (0\.\d+) \|",
    text_of("docs/results/baselines.md"),
    re.MULTILINE,
)
RUNS = 5


def test_all_but_the_exact_row_have_a_p_value():
    assert len(ROWS) == 5


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_p_value_is_that_of_welchs_test(row):
    _, mean, deviation, published, published_deviation, printed = row
    corrected = float(published_deviation) * math.sqrt(RUNS / (RUNS - 1))
    test = ttest_ind_from_stats(
        float(mean), float(deviation), RUNS, float(published), corrected, RUNS, equal_var=False
    )
    assert f"{test.pvalue:.2f}" == printed
