"""One seed of one algorithm: a finished run, or rows of another tool's file."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pcn.runs.run import Run


@dataclass(frozen=True, eq=False)
class Entrant:
    """One participant of a comparison."""

    environment: str
    """The name under which entrants are compared with one another."""
    label: str
    """The algorithm and its differences from others; its seeds have the same label."""
    seed: int
    source: Path
    """The run's folder, or the file."""
    returns: Float[np.ndarray, "policy objective"]
    """The executed returns of the policies."""
    run: Run | None = None
    """None for rows of another tool's file."""


ORDER = ("pcn", "mones", "ra")
"""The paper's order of algorithms; others come after these."""


def in_order(label: str) -> tuple[int, str]:
    """A key that sorts labels: the paper's algorithms first, each followed by its variants.

    >>> sorted(["ra", "pcn-paper", "other", "pcn (study)", "pcn", "mones"], key=in_order)
    ['pcn', 'pcn (study)', 'pcn-paper', 'mones', 'ra', 'other']
    """
    algorithm = re.split("[- ]", label, maxsplit=1)[0]
    return (ORDER.index(algorithm) if algorithm in ORDER else len(ORDER), label)
