"""The overview of an experiment: a table in a terminal, plain lines elsewhere."""

import io

import pytest
from rich.console import Console

from pcn.cli.experiment_display import ExperimentDisplay
from pcn.experiments.execution.task import Began, Ended, Moved
from pcn.experiments.overview import Overview
from pcn.experiments.paper import paper_plan
from pcn.experiments.preparation import Preparation


@pytest.fixture
def overview(tmp_path):
    """Four runs on Deep Sea Treasure, none of which has been begun."""
    runs = paper_plan("dst", seeds=1).runs
    steps = {(run.group, run.label): 1_000 for run in runs}
    preparation = Preparation(paper_plan("dst", seeds=1), tmp_path, steps, (), (), (), False)
    return Overview(preparation, runs, jobs=2)


def shown(overview, *, terminal):
    """What is shown while one run moves, another is done and a third fails."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=120, color_system=None)
    display = ExperimentDisplay(console, overview)
    place = "runs/deep-sea-treasure"
    with display.shown():
        for label in ("pcn", "mones", "ra"):
            display(Began(f"{place}/{label}/seed-1000"))
        display(Moved(f"{place}/pcn/seed-1000", 250, 1_000, "training"))
        display(Ended(f"{place}/mones/seed-1000", "done", seconds=12.0))
        display(Ended(f"{place}/ra/seed-1000", "failed", "the disk [broke]"))
    return file.getvalue(), display


@pytest.mark.parametrize("terminal", [False, True])
def test_ends_are_told_and_counted(overview, terminal):
    text, display = shown(overview, terminal=terminal)
    assert "mones/seed-1000 done in 12 s · 1 of 4" in text
    assert "ra/seed-1000 failed: the disk [broke]" in text
    assert display.summary().startswith("1 of 4 runs done, 1 running, 1 waiting, 1 failed")


def test_plain_lines_say_what_begins(overview):
    text, _ = shown(overview, terminal=False)
    assert "pcn/seed-1000 begins" in text
    assert "\x1b" not in text


def test_a_terminal_shows_how_far_runs_are(overview):
    text, _ = shown(overview, terminal=True)
    line = next(line for line in text.splitlines() if "pcn/seed-1000" in line and "25%" in line)
    assert "training" in line
    assert "begins" not in text
