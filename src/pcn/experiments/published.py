"""The numbers that the paper published, to stand beside ours.

Reymond, Bargiacchi and Nowé, Pareto Conditioned Networks, AAMAS 2022 (arXiv 2204.05036), Table 1:
five runs each. PCN's are of returns in its dataset, not of policies that were executed. The printed
table has hypervolume and I_eps; the means of I_eps_mean are not in it, and have no deviation.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Benchmark:
    """One row of the paper's Table 1."""

    title: str
    """The paper's name of the environment."""
    figure: str
    """The name of its figure's files."""


BENCHMARKS: Mapping[str, Benchmark] = {
    "deep-sea-treasure": Benchmark("DST", "dst"),
    "minecart": Benchmark("Minecart", "minecart"),
    "crossroad-authors": Benchmark("Crossroad", "crossroad"),
}
"""Rows of Table 1 by the names of our environments."""

Published = tuple[float, float | None]
"""Mean and standard deviation over runs; of I_eps_mean only the mean is known."""

PUBLISHED: Mapping[tuple[str, str], Mapping[str, Published]] = {
    ("deep-sea-treasure", "pcn"): {
        "hypervolume": (22845.40, 19.20),
        "epsilon": (0.039, 0.087),
        "epsilon_mean": (0.0039, None),
    },
    ("deep-sea-treasure", "mones"): {
        "hypervolume": (17384.83, 6521.10),
        "epsilon": (0.687, 0.222),
        "epsilon_mean": (0.365, None),
    },
    ("deep-sea-treasure", "ra"): {
        "hypervolume": (22437.40, 49.20),
        "epsilon": (0.667, 0.000),
        "epsilon_mean": (0.319, None),
    },
    ("minecart", "pcn"): {
        "hypervolume": (197.56, 0.70),
        "epsilon": (0.271, 0.087),
        "epsilon_mean": (0.065, None),
    },
    ("minecart", "mones"): {
        "hypervolume": (123.81, 23.03),
        "epsilon": (1.596, 0.889),
        "epsilon_mean": (1.109, None),
    },
    ("minecart", "ra"): {
        "hypervolume": (123.92, 0.25),
        "epsilon": (1.000, 0.000),
        "epsilon_mean": (0.631, None),
    },
    ("crossroad-authors", "pcn"): {
        "hypervolume": (539.53, 6.27),
        "epsilon": (0.247, 0.172),
        "epsilon_mean": (0.033, None),
    },
    ("crossroad-authors", "mones"): {
        "hypervolume": (429.09, 27.47),
        "epsilon": (0.660, 0.200),
        "epsilon_mean": (0.402, None),
    },
    ("crossroad-authors", "ra"): {
        "hypervolume": (466.02, 31.23),
        "epsilon": (0.408, 0.039),
        "epsilon_mean": (0.241, None),
    },
}
"""By environment and algorithm: a number for each metric."""

PUBLISHED_STEPS: Mapping[tuple[str, str], int] = {
    ("deep-sea-treasure", "pcn"): 100_000,
    ("deep-sea-treasure", "ra"): 13 * 100_000,
    ("minecart", "pcn"): 10_000_000,
    ("minecart", "ra"): 78 * 20_000_000,
    ("crossroad-authors", "pcn"): 2_000_000,
    ("crossroad-authors", "mones"): 50_000 * 100,
    ("crossroad-authors", "ra"): 13 * 2_000_000,
}
"""Environment steps of a run, RA's over all directions; the authors count MONES' in episodes, whose
length is known on Crossroad only."""
