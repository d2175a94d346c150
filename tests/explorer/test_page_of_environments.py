"""A whole session on the page of real runs, one of each kind of environment."""

import io
import re
import zipfile
from functools import partial

import numpy as np
import pytest

from browsing import PATIENCE, expect, needs_chromium, served
from explored import ENVIRONMENTS, KEPT
from pcn import load
from pcn.explorer import thread_stage
from pcn.explorer.report import report_html
from pcn.explorer.report_rollouts import chosen_policies, execute_chosen
from pcn.explorer.rollouts import Limits
from pcn.explorer.shown_runs import open_runs

pytestmark = [needs_chromium, pytest.mark.slow]

FOLDERS = {
    "minecart": ENVIRONMENTS / "minecart",
    "stochastic": ENVIRONMENTS / "resource-gathering",
    "walkroom-5": ENVIRONMENTS / "walkroom-5",
    "walkroom-9": ENVIRONMENTS / "walkroom-9",
    "crossroad": ENVIRONMENTS / "crossroad",
    "ra": KEPT / "ra",
}

MOST_STEPS = 12
"""Of a rollout: the simulator and the pictures of Crossroad take a second for every ten."""


@pytest.mark.parametrize("kind", FOLDERS)
def test_filter_pick_play_pin_ask_share_take_away_and_report(
    open_page, tmp_path, monkeypatch, kind
):
    """The best policy of the first objective and another one; by hand, every number is known."""
    monkeypatch.setattr(thread_stage, "Limits", partial(Limits, most_steps=MOST_STEPS))
    folder = FOLDERS[kind]
    run = load(folder, weights=False)
    executed = run.coverage_set.executed
    best = int(np.argmax(executed[:, 0]))
    others = [policy for policy in range(len(executed)) if policy != best]
    pinned = [best, *others[:1]]
    for address in served(folder):
        page = open_page(f"{address}#pick=0.{best}")
        filter_half(page, run)
        play_to_the_end(page, 1)
        assert page.locator(".action.chosen").count() == 0  # there is no next action
        assert ("(95 %)" in page.inner_text("#picked .values")) == run.coverage_set.is_repeated

        page.goto(f"{page.url}&pins={'_'.join(f'0.{policy}' for policy in pinned)}")
        page.reload()
        play_to_the_end(page, len(pinned))
        if others:
            assert page.locator(".compare tbody tr").count() == executed.shape[1] + 1

        if kind == "ra":
            assert "take no command" in page.inner_text("#ask")
        else:
            page.click("#ask button[type=submit]")  # what it offers: the picked policy's return
            expect(page.locator(".ask-answer")).to_contain_text("nearest policy", timeout=PATIENCE)
            expect(page.locator(".lane")).to_have_count(len(pinned) + 1)

        shared = open_page(page.url)
        assert shared.inner_text("#count") == page.inner_text("#count")
        assert shared.inner_text("#picked") == page.inner_text("#picked")

        with page.expect_download() as download:
            page.click("#takeaway >> text=Folder")
        zipped = io.BytesIO(download.value.path().read_bytes())
        zipfile.ZipFile(zipped).extractall(tmp_path)
    taken = load(next(tmp_path.rglob("front.csv")).parent)
    np.testing.assert_array_equal(taken.coverage_set.executed, executed[[best]])
    assert taken.weights

    file = tmp_path / "front.html"
    runs, _ = open_runs([folder])
    rollouts = execute_chosen(runs, 1, own_process=False)
    file.write_text(report_html(runs, rollouts), encoding="utf-8")
    (embedded,) = chosen_policies(runs[0], 1)
    page = open_page(f"{file.as_uri()}#pick=0.{embedded}", offline=True)
    filter_half(page, run)
    play_to_the_end(page, 1)


def filter_half(page, run):
    """Set a limit that about half of the policies reach, and read how many remain."""
    first = run.coverage_set.executed[:, 0]
    # A little below the median: the page has seven digits of each value.
    least = float(np.median(first) - 1e-4 * np.ptp(first))
    kept = int((first >= least).sum())
    as_shown = -least if run.spec.objectives[0].direction == "minimise" else least
    page.fill("#limit-0", f"{as_shown:.9f}")
    page.press("#limit-0", "Enter")
    expect(page.locator("#count")).to_have_text(
        re.compile(f"^{kept:,} of {len(first):,} polic(y|ies) remain")
    )


def play_to_the_end(page, num_lanes):
    """Step all rollouts to their ends; the pictures follow."""
    frames = page.locator(".lane img.frame")
    expect(frames).to_have_count(num_lanes, timeout=3 * PATIENCE)
    first = frames.first.get_attribute("src")
    page.click("button[aria-label='To the end']")
    expect(page.locator(".lane-status")).to_contain_text(["Episode"] * num_lanes)
    expect(frames.first).not_to_have_attribute("src", first)
