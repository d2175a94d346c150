"""A browser for the tests of the page; nothing is imported where no test asks for it."""

import pytest


@pytest.fixture(scope="module")
def browser():
    from browsing import launched

    yield from launched()


@pytest.fixture
def open_page(browser):
    """Opens addresses in contexts of their own; no page may have raised an error."""
    from browsing import PATIENCE

    contexts, problems = [], []

    def opened(address, *, width=1400, height=1600, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(request.url))
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    found = [*problems]  # closing a page fails the requests that it still waits for
    for context in contexts:
        context.close()
    assert found == []
