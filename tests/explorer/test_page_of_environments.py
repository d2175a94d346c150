"""The page of real runs, one of each kind of environment: filtered, picked and watched."""

import re

import numpy as np
import pytest

from browsing import PATIENCE, expect, needs_chromium, served
from explored import ENVIRONMENTS
from pcn import load

pytestmark = needs_chromium

KINDS = [
    "minecart",
    "resource-gathering",  # stochastic
    "walkroom-5",
    "walkroom-9",
    pytest.param("crossroad", marks=pytest.mark.slow),  # its simulator and pictures take seconds
]


@pytest.mark.parametrize("name", KINDS)
def test_a_run_is_filtered_picked_and_watched(open_page, name):
    """Half of the policies remain; the best of the first objective acts to its end, in pictures."""
    run = load(ENVIRONMENTS / name, weights=False)
    coverage_set, executed = run.coverage_set, run.coverage_set.executed
    best = int(np.argmax(executed[:, 0]))
    # A little below the median: the page has seven digits of each value.
    least = float(np.median(executed[:, 0]) - 1e-4 * np.ptp(executed[:, 0]))
    kept = int((executed[:, 0] >= least).sum())
    as_shown = -least if run.spec.objectives[0].direction == "minimise" else least
    for address in served(ENVIRONMENTS / name):
        page = open_page(f"{address}#pick=0.{best}")
        page.fill("#limit-0", f"{as_shown:.9f}")
        page.press("#limit-0", "Enter")
        expect(page.locator("#count")).to_have_text(
            re.compile(f"^{kept:,} of {len(executed):,} policies remain")
        )
        page.wait_for_selector(".lane img.frame", timeout=3 * PATIENCE)
        if name == "crossroad":  # a busy machine may not end its 100 pictures in a minute
            assert page.locator(".action").count() == 2
            continue
        page.click("button[aria-label='To the end']")
        expect(page.locator(".lane-status")).to_contain_text("Episode", timeout=PATIENCE)
        assert page.locator(".action.chosen").count() == 0  # there is no next action
        if coverage_set.is_repeated:
            assert "(95 %)" in page.inner_text("#picked .values")
