"""The page in a real browser, with the real server and a run that was trained."""

import csv
import io
import json
import re
import zipfile

import numpy as np
import pytest

from browsing import PATIENCE, expect, needs_chromium, served
from explored import KEPT
from made_runs import save_run
from pcn import load
from pcn.explorer.report import report_html
from pcn.explorer.report_rollouts import execute_chosen
from pcn.explorer.shown_runs import open_runs

pytestmark = needs_chromium
PICKED = (213, 94, 0)
"""The colour of the picked policy in the light scheme."""


@pytest.fixture(scope="module")
def trained():
    """Nine of ten policies of Deep Sea Treasure."""
    return load(KEPT / "pcn").coverage_set


@pytest.fixture(scope="module")
def address():
    """Where PCN's run is served, with RA's beside it."""
    yield from served(KEPT / "pcn", KEPT / "ra", own_process=True)


@pytest.fixture
def page(open_page, address):
    return open_page(address)


def count(page):
    """How many policies remain, of how many, as the page says it."""
    kept, size = re.match(r"([\d,]+) of ([\d,]+)", page.inner_text("#count")).groups()
    return int(kept.replace(",", "")), int(size.replace(",", ""))


def pick(page, policy):
    page.click(f"tr[data-policy='{policy}'] button.pick")
    page.wait_for_selector(f"#picked h2:has-text('Policy {policy} ')")


def downloaded(page, selector):
    with page.expect_download() as download:
        page.click(selector)
    with open(download.value.path(), "rb") as file:
        return file.read()


def test_it_opens_with_all_policies_and_values_as_people_think_of_them(page, trained):
    assert count(page) == (len(trained), len(trained))
    assert page.inner_text("h1") == "deep-sea-treasure"
    pick(page, 6)
    # Executed return (50, -14): time is a quantity to minimise and is not negative for a person.
    assert page.locator("#picked dd").all_inner_texts() == ["50", "14 steps"]
    assert "best 1 (ideal) · worst 19 (nadir)" in page.inner_text("[aria-label='time']")


def test_a_typed_limit_leaves_those_that_reach_it_and_fades_the_others(page, trained):
    page.fill("#limit-0", "16")
    page.fill("#limit-1", "17")
    page.press("#limit-1", "Enter")
    kept = (trained.executed[:, 0] >= 16) & (trained.executed[:, 1] >= -17)
    expect(page.locator("tr.excluded")).to_have_count((~kept).sum().item())
    assert count(page) == (kept.sum(), len(trained))
    for policy in np.flatnonzero(~kept):
        assert "excluded" in page.get_attribute(f"tr[data-policy='{policy}']", "class")
    page.click("text=Clear")
    expect(page.locator("tr.excluded")).to_have_count(0)
    assert count(page) == (len(trained), len(trained))


def test_the_slider_at_its_end_leaves_the_best_only(page):
    page.focus("[aria-label='treasure'] input[type=range]")
    page.keyboard.press("End")
    page.keyboard.press("PageDown")  # the end lies beyond the best value
    expect(page.locator("#count")).to_have_text("1 of 9 policies remain")
    assert page.locator("tr[data-policy]:not(.excluded) .pick").inner_text() == "8"


def test_a_brush_along_an_axis_sets_its_limit(page, trained):
    page.click(".tab[data-view=parallel]")
    box = page.locator(".view-parallel canvas").last.bounding_box()
    x = box["x"] + 46
    page.mouse.move(x, box["y"] + 0.9 * box["height"])
    page.mouse.down()
    page.mouse.move(x, box["y"] + 0.5 * box["height"], steps=5)
    page.mouse.up()
    expect(page.locator("#limit-0")).not_to_have_value("")
    limit = float(page.input_value("#limit-0"))
    assert 30 < limit < 90  # about the middle of 1 to 124
    assert count(page) == ((trained.executed[:, 0] >= limit).sum(), len(trained))


def test_a_point_of_the_scatter_is_picked_by_a_click(page):
    pick(page, 7)
    page.mouse.move(5, 5)
    page.wait_for_timeout(100)
    place = page.evaluate(
        """([red, green, blue]) => {
          const canvas = document.querySelector('.view-scatter canvas');
          const { width, height } = canvas;
          const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
          let [x, y, found] = [0, 0, 0];
          for (let pixel = 0; pixel < width * height; pixel += 1) {
            if (data[4 * pixel] !== red || data[4 * pixel + 1] !== green) continue;
            if (data[4 * pixel + 2] !== blue) continue;
            [x, y, found] = [x + (pixel % width), y + Math.floor(pixel / width), found + 1];
          }
          const box = canvas.getBoundingClientRect();
          return [box.left + x / found, box.top + y / found];
        }""",
        PICKED,
    )
    pick(page, 2)
    page.mouse.click(*place)
    page.wait_for_selector("#picked h2:has-text('Policy 7 ')")
    assert page.inner_text("#picked h2").startswith("Policy 7 ")


def test_arrow_keys_on_a_chart_pick_the_next_policy_and_tell_it(page):
    pick(page, 4)
    page.focus(".view-scatter canvas")
    page.keyboard.press("ArrowLeft")  # up and right are better: one step to the left is slower
    page.wait_for_selector("#picked h2:has-text('Policy 5 ')")
    assert page.inner_text("#announcer") == "Policy 5: treasure 16, time 9 steps"


def test_trade_offs_are_told_in_words(page):
    pick(page, 5)  # treasure 16 in 9 steps; next to it 50 in 14, and 8 in 8
    trades = page.locator(".trades .trade span:first-child").all_inner_texts()
    assert trades == ["+34 treasure for 5 more steps", "1 fewer step for 8 less treasure"]
    page.fill("[aria-label='How much better']", "40")  # 74 in 17 steps is the cheapest
    assert "+58 treasure for 8 more steps" in page.inner_text(".price .answer")
    page.click(".price .answer button")
    page.wait_for_selector("#picked h2:has-text('Policy 7 ')")


def test_the_picked_policy_is_played_to_the_return_it_promised(page, trained):
    pick(page, 5)
    page.wait_for_selector(".lane img.frame")
    first = page.get_attribute(".lane img.frame", "src")
    assert page.inner_text(".lane-status") == "Step 0 of 9"
    page.select_option("[aria-label=Speed]", "0.5")
    page.click("button[aria-label=Play]")
    expect(page.locator(".lane img.frame")).not_to_have_attribute("src", first)
    page.click("button[aria-label=Pause]")
    page.click("button[aria-label='To the start']")
    expect(page.locator(".lane-status")).to_have_text("Step 0 of 9")
    shares = page.locator(".action-share").all_inner_texts()
    assert len(shares) == 4  # up, down, left, right
    page.click("button[aria-label='To the end']")
    page.wait_for_selector("text=Episode ended after 9 steps")
    treasure, time = trained.executed[5]
    so_far = page.locator(".so-far").all_inner_texts()
    assert so_far == [f"{treasure:g}", f"{-time:g} steps"]
    page.click("button[aria-label='One step back']")
    page.wait_for_selector("text=Step 8 of 9")
    # Before the last step all of the treasure is left of the command, and one of the steps.
    assert page.locator(".left").all_inner_texts() == [f"{treasure:g}", "1"]


def test_pinned_policies_are_compared_and_stepped_together(page, trained):
    for policy in (1, 3, 5):
        page.click(f"tr[data-policy='{policy}'] button.pin")
    expect(page.locator(".lane img.frame")).to_have_count(3, timeout=PATIENCE)
    page.click("button[aria-label='One step forward']")
    statuses = page.locator(".lane-status")
    expect(statuses).to_have_text(["Step 1 of 3", "Step 1 of 7", "Step 1 of 9"])
    values = page.locator(".compare tbody tr").first.locator("td").all_inner_texts()
    assert values == [f"{value:g}" for value in trained.executed[[1, 3, 5], 0]]


def test_only_four_policies_can_be_pinned(page):
    for policy in range(5):
        page.click(f"tr[data-policy='{policy}'] button.pin")
    expect(page.locator("button.pin[aria-pressed=true]")).to_have_text(list("ABCD"))
    assert page.get_attribute("tr[data-policy='4'] button.pin", "aria-pressed") != "true"


def test_asking_for_a_return_tells_what_came_out_and_the_nearest_policy(page, trained):
    treasure, time = trained.executed[6]
    page.fill("#ask-0", f"{treasure}")
    page.fill("#ask-1", f"{-time}")
    page.fill("#ask-horizon", f"{trained.horizons[6]}")
    page.click("#ask button[type=submit]")
    # This command stands on the front, and what it returns was recorded when it was trained.
    page.wait_for_selector("text=That is exactly what you asked for.")
    answer = page.inner_text(".ask-answer")
    assert "got treasure 50, time 14 steps" in answer
    assert "nearest policy of the front is policy 6 (returns the same)" in answer
    page.fill("#ask-0", "60")
    page.click("#ask button[type=submit]")
    page.wait_for_selector("text=Compared with your request")
    page.wait_for_selector(".lane:has-text('What you asked for') img.frame")


def test_an_address_holds_the_state_of_the_page(page, open_page):
    page.fill("#limit-0", "5")
    page.press("#limit-0", "Enter")
    page.click(".tab[data-view=parallel]")
    page.click("[data-overlay=run1]")
    page.click("tr[data-policy='8'] button.pin")
    pick(page, 4)
    expect(page.locator(".lane img.frame")).to_have_count(2, timeout=PATIENCE)
    page.click("button[aria-label='One step forward']")
    expect(page).to_have_url(re.compile("step=1"))
    other = open_page(page.url)
    expect(other.locator(".lane img.frame")).to_have_count(2, timeout=PATIENCE)
    assert count(other) == count(page) == (6, 9)
    for told in ("#picked h2", ".lanes", "#toolbar"):
        assert other.inner_text(told) == page.inner_text(told)
    assert other.is_checked("[data-overlay=run1]")
    assert other.locator(".view-parallel").is_visible()
    other.go_back()  # nothing was changed there, so there is no step to take back
    page.go_back()
    page.wait_for_selector("#picked h2:has-text('Pick a policy')")


def test_an_address_that_names_what_does_not_exist_opens_the_page(open_page, address):
    page = open_page(f"{address}#pick=7.99&pins=0.x_0.1_0.1&limits=9:1_0:a&axes=0_7_1&views=what")
    assert page.locator(".lane").count() <= 1
    assert count(page) == (9, 9)


def test_the_numbers_of_a_policy_are_taken_away(page, trained):
    pick(page, 6)
    row = next(csv.DictReader(io.StringIO(downloaded(page, "#takeaway >> text=CSV").decode())))
    assert (row["policy"], row["treasure"], row["time (steps)"]) == ("6", "50", "14")
    (record,) = json.loads(downloaded(page, "#takeaway >> text=JSON"))
    assert record["executed"] == {"treasure": 50, "time": 14}
    page.fill("#limit-0", "16")
    page.press("#limit-0", "Enter")
    page.wait_for_selector("tr.excluded")
    remaining = "#takeaway .take-row:has-text('All remaining policies') >> text=JSON"
    kept = [record["policy"] for record in json.loads(downloaded(page, remaining))]
    assert kept == np.flatnonzero(trained.executed[:, 0] >= 16).tolist()
    assert downloaded(page, "[aria-label='Save Scatter as picture']").startswith(b"\x89PNG")


def test_a_policy_is_taken_away_as_a_run_of_its_own(page, trained, tmp_path):
    pick(page, 6)
    file = downloaded(page, "#takeaway >> text=Folder")
    zipfile.ZipFile(io.BytesIO(file)).extractall(tmp_path)
    (folder,) = (path.parent for path in tmp_path.rglob("front.csv"))
    np.testing.assert_array_equal(load(folder).coverage_set.executed, trained.executed[[6]])


def test_a_report_works_from_disk_without_a_network(open_page, tmp_path):
    runs, _ = open_runs([KEPT / "pcn"])
    file = tmp_path / "front.html"
    rollouts = execute_chosen(runs, None, own_process=False)
    file.write_text(report_html(runs, rollouts), encoding="utf-8")
    page = open_page(file.as_uri(), offline=True)
    page.fill("#limit-1", "9")
    page.press("#limit-1", "Enter")
    page.wait_for_selector("tr.excluded")
    assert count(page) == (6, 9)
    page.click("tr[data-policy='5'] button.pick")
    page.wait_for_selector(".lane img.frame")
    page.click("button[aria-label='To the end']")
    page.wait_for_selector("text=Episode ended after 9 steps")
    assert "needs the live page" in page.inner_text("#ask")


def test_a_run_that_cannot_be_watched_is_shown_and_says_why(open_page, tmp_path):
    folder = save_run(tmp_path / "run", [[1, -3], [2, -5]])  # its environment exists nowhere
    for address in served(folder):
        page = open_page(f"{address}#pick=0.1")
        assert count(page) == (2, 2)
        (shown,), _ = open_runs([folder])
        expect(page.locator("#watch")).to_contain_text(shown.why_not_watched)
        assert not page.is_visible("#ask button[type=submit]")


def test_nine_objectives_and_a_thousand_policies_are_filtered_in_every_view(open_page, tmp_path):
    returns = np.random.default_rng(0).random((1000, 9)).round(3)
    folder = save_run(tmp_path / "run", returns)
    views = "scatter_scatter3d_parallel_matrix_table"
    for address in served(folder):
        page = open_page(f"{address}#views={views}&pick=0.3", height=4000)
        page.fill("#limit-0", "0.5")
        page.press("#limit-0", "Enter")
        page.wait_for_selector("tr.excluded")
        assert count(page) == ((returns[:, 0] >= 0.5).sum(), 1000)
        assert page.locator(".view canvas").count() >= 4
        page.mouse.wheel(0, 200)
        assert page.locator("tr[data-policy]").count() < 100  # only rows in sight exist


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 900])
def test_it_fits_a_phone_and_a_small_window(open_page, address, width, scheme):
    page = open_page(f"{address}#pins=0.1_0.2", width=width, color_scheme=scheme)
    expect(page.locator(".lane img.frame")).to_have_count(2, timeout=PATIENCE)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_every_control_has_a_name_for_screen_readers(page):
    pick(page, 5)
    page.wait_for_selector(".lane img.frame")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, canvas, img')]
          .filter((each) => !each.closest('[hidden], [aria-hidden=true]'))
          .filter((each) => !each.textContent.trim() && !each.getAttribute('aria-label')
            && !each.getAttribute('alt') && !each.labels?.length)
          .map((each) => each.outerHTML)"""
    )
    assert nameless == []


def test_names_are_shown_as_they_are_and_never_as_html(open_page, tmp_path):
    name = "<script>document.title='seized'<"
    folder = save_run(tmp_path / name, [[1, -3], [2, -5]], name=f"[bold]{name}")
    for address in served(folder):
        page = open_page(address)
        assert page.inner_text("h1") == f"[bold]{name}"
        assert page.title() == f"[bold]{name} · pcn"


@pytest.mark.parametrize("returns", [[[1.0], [2.0]], [[3.0, -4.0]], [[0.0, 0.0, 0.0]]])
def test_one_objective_or_one_policy_is_shown_too(open_page, tmp_path, returns):
    folder = save_run(tmp_path / "run", returns)
    for address in served(folder):
        page = open_page(f"{address}#pick=0.0")
        assert count(page) == (len(returns), len(returns))
        assert page.inner_text("#picked h2") == "Policy 0"
        assert "NaN" not in page.inner_text("body")
        assert "Infinity" not in page.inner_text("body")


def test_an_axis_moves_by_the_keyboard(open_page, tmp_path):
    folder = save_run(tmp_path / "run", [[1, -3, -2], [2, -5, -1]])
    for address in served(folder):
        page = open_page(address)
        page.focus("[aria-label='Move the axis of cost 1 one place to the left']")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("order=0_2_1"))
        assert page.inner_text("#announcer") == "cost 1 is axis 2 of 3"
