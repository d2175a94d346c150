"""Runs of format 1, as commit 8537dba wrote them, still load, play and resume.

`format_1/made_with.txt` is the script that made them; each unfinished run was stopped half way.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import pcn
from pcn.runs.playing import play

pytestmark = pytest.mark.slow

DATA = Path(__file__).parent / "format_1"
FINISHED = ["pcn", "pcn-gymnasium", "mones", "ra"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FINISHED)
def test_a_finished_run_loads_executes_and_plays(name):
    run = pcn.load(DATA / name)
    told = json.loads((DATA / name / "config.json").read_text())
    assert run.settings.format == 1
    assert run.settings.config.total_steps == told["config"]["total_steps"] == 3_000
    assert run.settings.config.evaluations == told["config"]["evaluations"]
    assert len(run.coverage_set) == run.metrics["policies"]
    assert [type(evaluation.executed_cardinality) for evaluation in run.progress] == (
        [int] * len(run.progress)
    )
    assert run.spec.num_objectives == 2
    again, metrics = run.execute()
    np.testing.assert_array_equal(again.executed, run.coverage_set.executed)
    for metric, value in run.metrics["executed"].items():
        assert metrics["executed"][metric] == pytest.approx(value)
    for index, executed in enumerate(run.coverage_set.executed):
        np.testing.assert_allclose(play(run, index).total, executed)


def test_the_spec_of_a_probed_environment_is_that_of_its_arguments():
    run = pcn.load(DATA / "pcn-gymnasium")
    assert run.spec.reference_point == run.settings.arguments["reference_point"]
    assert run.environment().num_slots == 4


def test_switches_of_format_1_are_refinements_now():
    config = pcn.load(DATA / "pcn").settings.config
    assert config.to_json()["refinements"]["consolidation"]["updates"] == 500


@pytest.mark.slow
@pytest.mark.parametrize("name", FINISHED)
def test_an_unfinished_run_ends_within_its_budget_in_what_it_reports(name, tmp_path):
    # Budgets are divided in another way since then: a run ends, but not in the same policies.
    folder = tmp_path / "run"
    shutil.copytree(DATA / f"{name}-unfinished", folder)
    events = []
    resumed = pcn.resume(folder, report=events.append)
    assert events[0].steps >= 1_500
    whole = pcn.load(DATA / name)
    assert resumed.metrics["steps"] <= resumed.settings.config.total_steps
    assert len(resumed.coverage_set) >= len(whole.coverage_set) - 1
    assert _kinds(resumed.weights) == _kinds(whole.weights)
    again, _ = resumed.execute(seed=1)
    np.testing.assert_array_equal(again.executed, resumed.coverage_set.executed)
    assert pcn.load(folder).metrics == resumed.metrics
    twice = tmp_path / "twice"
    shutil.copytree(DATA / f"{name}-unfinished", twice)
    weights = pcn.resume(twice).weights
    assert all(np.array_equal(weights[array], resumed.weights[array]) for array in weights)


def _kinds(arrays):
    """What weights are called, and how each policy's are shaped."""
    return {name: (array.dtype, array.shape[1:]) for name, array in arrays.items()}
