"""Trained runs that tests of the explorer look at: small ones that are kept with the tests."""

from pathlib import Path

from pcn.explorer.shown_runs import open_runs

KEPT = Path(__file__).parent / "runs" / "format_1"
"""Runs on Deep Sea Treasure, one of each algorithm: nothing has to be trained."""

ENVIRONMENTS = Path(__file__).parent / "runs" / "explored"
"""Short real runs, one of each kind of environment."""


def shown(name="pcn"):
    """One of these runs, as the explorer has it."""
    return open_runs([KEPT / name])[0][0]
