"""The paper's numbers, copied once more from the paper, row by row of its Table 1."""

import pytest

from pcn.experiments.published import BENCHMARKS, PUBLISHED, PUBLISHED_STEPS

PRINTED = """
DST       pcn    22845.40 ±   19.20   0.039 ± 0.087
DST       mones  17384.83 ± 6521.10   0.687 ± 0.222
DST       ra     22437.40 ±   49.20   0.667 ± 0.000
Minecart  pcn      197.56 ±    0.70   0.271 ± 0.087
Minecart  mones    123.81 ±   23.03   1.596 ± 0.889
Minecart  ra       123.92 ±    0.25   1.000 ± 0.000
Crossroad pcn      539.53 ±    6.27   0.247 ± 0.172
Crossroad mones    429.09 ±   27.47   0.660 ± 0.200
Crossroad ra       466.02 ±   31.23   0.408 ± 0.039
"""
MEANS = {  # of I_eps_mean, which the printed table does not have
    "DST": (0.0039, 0.365, 0.319),
    "Minecart": (0.065, 1.109, 0.631),
    "Crossroad": (0.033, 0.402, 0.241),
}
NAMES = {benchmark.title: name for name, benchmark in BENCHMARKS.items()}


@pytest.mark.parametrize("line", PRINTED.strip().splitlines())
def test_hypervolume_and_epsilon_are_those_of_the_printed_table(line):
    title, algorithm, *numbers = line.replace("±", "").split()
    volume, its_deviation, epsilon, deviation = map(float, numbers)
    published = PUBLISHED[NAMES[title], algorithm]
    assert published["hypervolume"] == (volume, its_deviation)
    assert published["epsilon"] == (epsilon, deviation)
    place = ("pcn", "mones", "ra").index(algorithm)
    assert published["epsilon_mean"] == (MEANS[title][place], None)


def test_steps_are_those_of_the_text():
    """RA trains a policy for each of 13 or 78 directions; on Crossroad an episode has 100 steps."""
    thousand, million = 1_000, 1_000_000
    assert {
        ("deep-sea-treasure", "pcn"): 100 * thousand,
        ("deep-sea-treasure", "ra"): 1_300 * thousand,
        ("minecart", "pcn"): 10 * million,
        ("minecart", "ra"): 1_560 * million,
        ("crossroad-authors", "pcn"): 2 * million,
        ("crossroad-authors", "mones"): 5 * million,
        ("crossroad-authors", "ra"): 26 * million,
    } == PUBLISHED_STEPS
