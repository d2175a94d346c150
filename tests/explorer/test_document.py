"""The document that the page reads, against numbers by hand."""

import dataclasses
import json

import numpy as np
import pytest

from made_runs import TREASURES, made_run, save_run
from pcn.explorer.document import compact_json, document_of, plain
from pcn.explorer.shown_runs import ShownRun, open_runs


def document(executed, requested=None, **about):
    return document_of([ShownRun("run", made_run(executed, requested, **about))], live=True)


def test_objectives_have_names_units_and_directions():
    assert document([[1, -3], [2, -5], [0, -9]])["objectives"] == [
        {"name": "gain", "unit": "kg", "direction": "maximise"},
        {"name": "cost 0", "unit": None, "direction": "minimise"},
    ]


def test_nothing_stands_in_it_that_the_page_does_not_read():
    told = document([[1, -3]], front=[[1, -3]], reference_point=[0, -9])
    assert set(told["environment"]) == {"name", "discount", "step_limit", "action_names"}
    assert set(told["known_front"]) == {"returns", "status", "source"}
    (run,) = told["runs"]
    assert set(run) == {
        "name", "algorithm", "seed", "order", "steps", "can_watch", "why_not", "takes_commands",
        "can_ask", "why_no_ask", "hypervolume", "fidelity", "not_executed", "policies", "archive",
    }  # fmt: skip
    assert set(run["policies"]) == {
        "requested", "executed", "horizons", "executions", "interval", "quantiles", "on_front",
    }  # fmt: skip


def test_policies_are_raw_and_marked_where_they_are_on_the_front():
    told = document([[1, -3], [2, -5], [0, -9]], [[1, -3], [3, -5], [0, -9]])
    policies = told["runs"][0]["policies"]
    assert policies["executed"] == [[1, -3], [2, -5], [0, -9]]
    assert policies["requested"] == [[1, -3], [3, -5], [0, -9]]
    assert policies["on_front"] == [True, True, False]
    assert policies["interval"] is policies["executions"] is None
    assert told["runs"][0]["archive"] == [[1, -3], [3, -5]]


def test_an_archive_that_the_folder_does_not_hold_is_left_out():
    run = made_run([[1, -3], [2, -5]])
    run.metrics["archive"]["cardinality"] = 7
    assert document_of([ShownRun("run", run)], live=True)["runs"][0]["archive"] == []


def test_stochastic_outcomes_have_intervals_and_quantiles():
    run = made_run([[1, -3], [2, -5]])
    run.coverage_set = dataclasses.replace(
        run.coverage_set,
        deviation=np.ones((2, 2)),
        executions=np.array([4, 9]),
        margin=np.array([[0.5, 1.0], [0.25, 2.0]]),
        low=np.array([[0.0, -5.0], [1.0, -6.0]]),
        high=np.array([[2.0, -1.0], [3.0, -4.0]]),
    )
    policies = document_of([ShownRun("run", run)], live=True)["runs"][0]["policies"]
    assert policies["interval"] == [[[0.5, 1.5], [-4, -2]], [[1.75, 2.25], [-7, -3]]]
    assert policies["quantiles"] == [[[0, 2], [-5, -1]], [[1, 3], [-6, -4]]]
    assert policies["executions"] == [4, 9]


def test_suggestions_say_why_and_a_front_without_a_knee_says_so():
    """Shares of Deep Sea Treasure's balanced policy: see tests/pareto/test_compromise.py."""
    told = document(TREASURES)
    assert [(one["run"], one["policy"], one["kind"]) for one in told["suggestions"]] == [
        (0, 7, "balanced")
    ]
    assert (
        "its weakest objective is cost 0, where it reaches 28 % of the range"
        in (told["suggestions"][0]["why"])
    )
    assert told["no_knee"].startswith("This front has no knee")
    bent = document([[0, -4], [3, -1], [4, 0], [0, -9]])  # (4, 0) dominates: one policy, no knee
    assert bent["suggestions"] == []
    bent = document([[0, 4], [3, 3], [4, 0], [1, 1]])  # to (4, 0): 0.75 for 0.25
    assert [(one["policy"], one["kind"]) for one in bent["suggestions"]] == [
        (1, "knee"), (1, "balanced"),
    ]  # fmt: skip
    assert (
        "every other policy gives up at least 3 times what it gains"
        in (bent["suggestions"][0]["why"])
    )
    assert bent["no_knee"] is None


def test_noise_of_rounding_decides_no_suggestion_and_one_policy_has_no_missing_knee():
    front = [[0, 4, 5], [3, 3, 5], [4, 0, 5]]
    clean, noisy = document(front), document([*front[:2], [4, 0, 5.0000005]])
    assert [one["policy"] for one in clean["suggestions"]] == [1, 1]
    assert noisy["suggestions"] == clean["suggestions"]
    assert document([[1, -3]])["no_knee"] is None


@pytest.mark.parametrize("status", ["proven", "best-known", "claimed"])
def test_the_known_front_says_how_sure_it_is(status):
    about = {"front": [[1, -3], [2, -4]], "status": status, "reference_point": [0, -9]}
    told = document([[1, -3]], **about)["known_front"]
    assert told["returns"] == [[1, -3], [2, -4]]
    assert told["status"] == status
    assert document([[1, -3]])["known_front"] is None


def test_several_runs_stand_in_one_document(tmp_path):
    save_run(tmp_path / "a", [[1, -3]], seed=4)
    save_run(tmp_path / "b", [[5, -9]], algorithm="ra")
    runs, left_out = open_runs([tmp_path / "a", tmp_path / "b"])
    told = document_of(runs, live=False, left_out=left_out)
    assert [(run["name"], run["algorithm"], run["seed"]) for run in told["runs"]] == [
        ("a", "pcn", 4), ("b", "ra", 0),
    ]  # fmt: skip
    assert told["live"] is False
    assert json.loads(compact_json(told)) == told


def test_numbers_that_json_does_not_know_become_null():
    content = plain({"a": [np.nan, np.inf, -np.inf, np.float32(0.1)], "b": np.array([[True]])})
    assert content == {"a": [None, None, None, 0.1], "b": [[True]]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        compact_json({"a": float("nan")})
