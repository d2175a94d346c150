"""Debian's chromium for tests of the explorer's page; a test module that imports this needs it."""

import shutil

import pytest

pytest.importorskip("starlette", reason="needs pcn[explore]")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from pcn.explorer.explorer import Explorer  # noqa: E402
from pcn.explorer.serving import PageServer  # noqa: E402
from pcn.explorer.shown_runs import open_runs  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
expect = sync_api.expect
PATIENCE = 60_000  # milliseconds: the first rollout compiles the network


def launched():
    """A browser, until the generator goes on."""
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def served(*folders, own_process=False):
    """The address of the runs' page, until the generator goes on.

    Policies act in this process, unless the test is about how it really is: another process takes
    seconds to import JAX.
    """
    server = PageServer(Explorer(*open_runs(folders), own_process=own_process))
    server.start()
    yield server.address
    server.close()
