"""The page without a mouse, and as a screen reader has it."""

import re

import pytest

from browsing import PATIENCE, expect, needs_chromium, served
from explored import KEPT

pytestmark = needs_chromium

CONTROLS = {
    "button", "checkbox", "combobox", "image", "img", "link", "slider", "spinbutton", "textbox",
    "table", "group", "region", "status",
}  # fmt: skip
"""Roles of what can be used or must be told; `status` and some groups speak by their content."""
SPEAK_BY_CONTENT = {"status", "group"}
MOST_TABS = 120


@pytest.fixture(scope="module")
def address():
    yield from served(KEPT / "pcn")


def tab_to(page, selector):
    """Press Tab until this has the focus, as who has nothing but a keyboard."""
    for _ in range(MOST_TABS):
        if page.evaluate("(each) => document.activeElement.matches(each)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab")


def test_boxes_are_ticked_with_the_space_bar(open_page, address):
    page = open_page(address)
    box = page.locator(".overlays input").first
    was_ticked = box.is_checked()
    tab_to(page, ".overlays input")
    page.keyboard.press("Space")
    assert box.is_checked() != was_ticked
    head = page.locator("th", has=page.locator("button.sort")).nth(1)  # the first objective
    for direction, first in (("descending", "best"), ("ascending", "worst")):
        head.locator("button.sort").click()
        expect(head).to_have_attribute("aria-sort", direction)
        expect(head).to_have_attribute("data-first", first)


def test_a_session_by_keyboard_alone(open_page, address):
    page = open_page(address, accept_downloads=True)
    page.keyboard.press("Tab")
    tab_to(page, "#limit-0")
    page.keyboard.type("16")
    page.keyboard.press("Enter")
    expect(page.locator("#count")).to_have_text(re.compile("^4 of 9 "))

    tab_to(page, "tr[data-policy='6'] button.pick")
    page.keyboard.press("Enter")
    expect(page.locator("#picked h2")).to_have_text("Policy 6")
    page.keyboard.press("p")
    expect(page.locator("tr[data-policy='6'] button.pin")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("]")  # the next one that remains
    expect(page.locator("#picked h2")).not_to_have_text("Policy 6")

    expect(page.locator(".lane img.frame")).to_have_count(2, timeout=PATIENCE)
    tab_to(page, "button[aria-label=Play]")
    page.keyboard.press("Space")
    expect(page.locator(".lane-status").first).not_to_contain_text("Step 0 ")
    page.keyboard.press(",")  # a step back, which also pauses
    expect(page.locator("button[aria-label=Play]")).to_be_visible()

    tab_to(page, "#ask-0")
    page.keyboard.press("Control+A")
    page.keyboard.type("30")
    page.keyboard.press("Enter")
    expect(page.locator(".ask-answer")).to_contain_text("nearest policy", timeout=PATIENCE)

    tab_to(page, "#takeaway button")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".zip")
    assert "limits=" in page.url
    assert "pins=" in page.url
    assert "ask=" in page.url


def test_a_screen_reader_hears_a_name_for_everything_that_can_be_used(open_page, address):
    page = open_page(f"{address}#pick=0.5&pins=0.2&views=scatter_parallel_table")
    expect(page.locator(".lane img.frame")).to_have_count(2, timeout=PATIENCE)
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    told = [
        (node["role"]["value"], node.get("name", {}).get("value", "").strip())
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in CONTROLS
    ]
    assert len(told) > 60
    assert [role for role, name in told if not name and role not in SPEAK_BY_CONTENT] == []
    names = [name for _, name in told]
    assert {"Play", "Speed", "Pin policy 5", "Step", "treasure"} <= {*names}
    landmarks = {node["role"]["value"] for node in nodes if not node["ignored"]}
    assert {"main", "heading", "table", "columnheader", "rowheader"} <= landmarks
