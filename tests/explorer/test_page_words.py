"""What the page says: units, errors, names of fronts, requests and intervals, word by word."""

import csv
import dataclasses
import io
import json

import numpy as np
import pytest

from browsing import expect, needs_chromium, served
from explored import ENVIRONMENTS, KEPT
from made_runs import made_run, toy_spec
from pcn import Objective, load
from pcn.explorer.report import report_html
from pcn.explorer.shown_runs import ShownRun, open_runs

pytestmark = needs_chromium
STOCHASTIC = ENVIRONMENTS / "resource-gathering"


@pytest.fixture
def open_run(open_page, tmp_path):
    """Opens runs as a file: nothing has to be served."""

    def opened(run, state="", rollouts=None, **options):
        file = tmp_path / "front.html"
        file.write_text(report_html([ShownRun("run", run)], rollouts or {}), encoding="utf-8")
        return open_page(f"{file.as_uri()}#{state}", **options)

    return opened


def downloaded(page, text):
    with page.expect_download() as download:
        page.click(f"#takeaway .take-row:has-text('All remaining policies') >> text={text}")
    return download.value.path().read_text()


def uncertain(run, **about):
    """The run with 95 % margins of one and a half in every objective."""
    some = np.full_like(run.coverage_set.executed, 1.5)
    run.coverage_set = dataclasses.replace(
        run.coverage_set, margin=some, executions=np.full(len(some), 20), **about
    )
    return run


def test_units_are_plural_or_singular_and_abbreviations_stay(open_run):
    units = {"time": "steps", "delay": "ms", "warmth": "celsius", "ore": "kg"}
    objectives = tuple(Objective(name, unit) for name, unit in units.items())
    spec = dataclasses.replace(toy_spec(4), objectives=objectives)
    page = open_run(made_run([[1, 1, 1, 1], [2, 2, 2, 2]], spec=spec), "pick=0.0")
    values = page.locator("#picked .values dd")
    assert values.all_inner_texts() == ["1 step", "1 ms", "1 celsius", "1 kg"]
    page.click("tr[data-policy='1'] button.pick")
    expect(values).to_have_text(["2 steps", "2 ms", "2 celsius", "2 kg"])
    heads = page.locator("table.policies th .sort").all_inner_texts()
    assert heads == ["Policy", "time (steps) ↑", "delay (ms) ↑", "warmth (celsius) ↑", "ore (kg) ↑"]


def test_amounts_have_units_and_things_that_are_counted_are_fewer(open_run):
    objectives = (Objective("ore", "kg"), Objective("time", "steps", direction="minimise"))
    spec = dataclasses.replace(toy_spec(2), objectives=objectives)
    page = open_run(made_run([[1, -3], [4, -5]], spec=spec), "pick=0.0")
    trade = page.locator("#picked .trades .trade span").first
    assert trade.inner_text() == "+3 kg ore for 2 more steps"
    page.click("tr[data-policy='1'] button.pick")
    expect(trade).to_have_text("2 fewer steps for 3 kg less ore")


def test_an_error_of_an_earlier_question_is_not_shown(open_page):
    held = []
    for address in served(KEPT / "pcn", KEPT / "ra"):
        page = open_page(address)
        page.route("**/api/rollout", lambda route: held.append(route))
        page.click("#ask button[type=submit]")
        expect(page.locator(".ask-answer")).to_have_text("Executing…")
        while not held:
            page.wait_for_timeout(10)
        page.select_option("[aria-label=Run]", "1")  # whoever asked looks at another run by now
        expect(page.locator(".ask-answer")).to_contain_text("take no command")
        held[0].fulfill(status=400, json={"error": "That went wrong."})
        page.wait_for_timeout(200)
        assert "take no command" in page.inner_text("#ask")
        assert "That went wrong." not in page.inner_text("body")
        page.select_option("[aria-label=Run]", "0")
        page.click("#ask button[type=submit]")
        while len(held) < 2:
            page.wait_for_timeout(10)
        held[1].fulfill(status=400, json={"error": "That went wrong."})
        expect(page.locator(".ask-answer .error")).to_have_text("That went wrong.")


@pytest.mark.parametrize(
    ("status", "name", "shown"),
    [
        ("proven", "known front", True),
        ("best-known", "best known front", True),
        ("claimed", "claimed front", False),
    ],
)
def test_a_front_is_called_what_it_is_and_a_claimed_one_is_shown_on_request(
    open_run, status, name, shown
):
    about = {"front": [[1, -3], [2, -4]], "status": status, "reference_point": [0, -9]}
    page = open_run(made_run([[1, -3]], **about))
    label = page.locator("label.overlay:has([data-overlay=front])")
    assert label.inner_text() == f"○ {name}"
    assert label.get_attribute("title") == "hand"  # where it comes from
    assert page.is_checked("[data-overlay=front]") == shown


def test_nothing_was_requested_of_a_policy_that_takes_no_command(open_page):
    for address in served(KEPT / "ra"):
        page = open_page(f"{address}#pick=0.0")
        assert "Policies of RA take no request: this is what it returns." in (
            page.inner_text("#picked")
        )
        assert "requested" not in page.inner_text("#picked .values")
        assert "requested" not in page.inner_text("#header")
        assert not page.locator("td.requested").first.is_visible()
        assert {record["requested"] for record in json.loads(downloaded(page, "JSON"))} == {None}


def test_a_request_within_the_interval_of_its_mean_is_reached(open_run):
    run = uncertain(made_run([[1, -3], [2, -9]], [[2, -4], [2, -5]]))
    page = open_run(run, "pick=0.0")
    assert "Returns what was requested, within its interval." in page.inner_text("#picked")
    asked = page.locator("td.requested").all_inner_texts()
    assert asked == ["as requested", "2, 5"]
    page.click("tr[data-policy='1'] button.pick")
    expect(page.locator("#picked")).to_contain_text("Returns 4 more cost 0 than requested.")


def test_margins_stand_in_the_head_side_by_side_and_in_what_is_taken_away(open_page):
    run = load(STOCHASTIC, weights=False)
    executed, margin = run.coverage_set.executed, run.coverage_set.margin
    low, high = run.metrics["executed"]["hypervolume_interval"]
    (shown,), _ = open_runs([STOCHASTIC])
    for address in served(STOCHASTIC):
        page = open_page(f"{address}#pins=0.1_0.3")
        head = page.inner_text("#header")
        assert f"(95 %: {low:.4g} to {high:.4g})" in head
        assert "100 % return what was requested, within their intervals" in head
        cells = page.locator(".compare tbody tr").nth(1).locator("td").all_inner_texts()
        assert cells == [f"{executed[i, 1]:.4g} ± {margin[i, 1]:.2g}" for i in (1, 3)]
        names = [objective.name for objective in shown.run.spec.objectives]
        for policy, record in enumerate(json.loads(downloaded(page, "JSON"))):
            assert record["executions"] == run.coverage_set.executions[policy]
            np.testing.assert_allclose(
                [record["margin"][name] for name in names], margin[policy], atol=1e-6
            )
        rows = list(csv.DictReader(io.StringIO(downloaded(page, "CSV"))))
        taken = [[float(row[f"95 % margin of {name}"]) for name in names] for row in rows]
        np.testing.assert_allclose(taken, margin, atol=1e-6)
        assert [int(row["executions"]) for row in rows] == run.coverage_set.executions.tolist()


def test_means_whose_intervals_overlap_are_both_the_best(open_run):
    page = open_run(uncertain(made_run([[1, -3], [3, -9], [9, -10]])), "pins=0.0_0.1_0.2")
    rows = page.locator(".compare tbody tr")
    best = [rows.nth(i).locator("td.best").all_inner_texts() for i in (0, 1)]
    # Gains of 1 and 3 are not 9; a cost of 9 is not 3, and 1.5 away from both is nothing.
    assert best == [["9 kg ± 1.5"], ["3 ± 1.5"]]
    page = open_run(uncertain(made_run([[1, -3], [3, -9]])), "pins=0.0_0.1")
    assert page.locator(".compare tbody tr").first.locator("td.best").count() == 2


def test_runs_that_were_executed_once_have_no_columns_of_margins(open_run):
    page = open_run(made_run([[1, -3], [2, -5]]))
    head = next(csv.reader(io.StringIO(downloaded(page, "CSV"))))
    assert head == [
        "run", "policy", "gain (kg)", "cost 0", "requested gain (kg)", "requested cost 0",
        "horizon", "on front",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({}, "Episode ended after 1 step"),
        ({"truncated": True, "steps": 200}, "Episode stopped by the step limit after 200 steps"),
        ({"truncated": True}, "Episode stopped by the environment after 1 step"),
        (
            {"stopped": "by the time limit of a rollout, 60 s"},
            "Episode stopped by the time limit of a rollout, 60 s, after 1 step",
        ),
    ],
)
def test_a_rollout_says_what_stopped_it(open_run, how, told):
    steps = how.get("steps", 1)
    rollout = {
        "policy": 0, "steps": steps, "truncated": False, "stopped": None, "returned": [1, -3],
        "actions": [0] * steps, "probabilities": [[1.0, 0.0]] * steps, "option_names": None,
        "rewards": [[1, -3]] * steps, "remaining": None, "remaining_horizon": None,
        "frames": None, "frame_steps": None, "message": None, **how,
    }  # fmt: skip
    page = open_run(load(KEPT / "pcn"), "pick=0.0", {"0/0": rollout})
    page.click("button[aria-label='To the end']")
    expect(page.locator(".lane-status")).to_have_text(told)  # waits until it is there
    over = "it was stopped" if "stopped" in how else "the episode is over"
    assert page.locator(".lane-status").inner_text() == told
    assert page.locator(".actions").inner_text() == f"None: {over}."
