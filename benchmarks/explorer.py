"""The explorer's page in a browser: `python benchmarks/explorer.py [POLICIES...]`.

Serves made-up fronts of nine objectives, opens them in Debian's chromium (`make browser`), and
prints a Markdown table: milliseconds until the page is ready; milliseconds from a move of the mouse
along an axis of the parallel coordinates to the redrawn page; the time that the page's own thread
computes for such a move, which does not depend on what else the machine does; and memory.
"""

import gc
import shutil
import statistics
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
from playwright.sync_api import CDPSession, Page, sync_playwright

from pcn import CoverageSet, EnvironmentSpec, Objective, Run
from pcn.explorer.explorer import Explorer
from pcn.explorer.serving import PageServer
from pcn.explorer.shown_runs import ShownRun
from pcn.runs.settings import Settings

NUM_OBJECTIVES, REPEATS, MOVES = 9, 5, 30
VIEWPORT = {"width": 1280, "height": 800}

TIMED = """() => {
  window.brushes = [];
  const canvas = [...document.querySelectorAll('.view-parallel canvas')].pop();
  canvas.addEventListener('pointermove', () => {
    const start = performance.now();
    requestAnimationFrame(() => setTimeout(() => window.brushes.push(performance.now() - start)));
  }, true);
}"""
"""A frame's callbacks run in order: the page's own redraws before the next task."""


def made_run(num_policies: int) -> Run:
    """A front on a simplex, on which no policy dominates another."""
    returns = np.random.default_rng(0).dirichlet(np.ones(NUM_OBJECTIVES), num_policies).round(4)
    count = len(returns)
    spec = EnvironmentSpec(
        name=f"{num_policies:,} policies",
        objectives=tuple(Objective(f"objective {i}") for i in range(NUM_OBJECTIVES)),
        observation_space=gym.spaces.Discrete(2),
        action_space=gym.spaces.Discrete(2),
        step_limit=10,
        reference_point=(0.0,) * NUM_OBJECTIVES,
    )
    coverage_set = CoverageSet(
        returns, np.ones(count), returns, np.zeros_like(returns), tolerances=1e-6
    )
    settings = Settings("nowhere:Nothing", {}, "pcn", "default", 0, {"discount": 1.0})
    metrics = {"steps": 0, "executed": {}, "fidelity": {}, "archive": {"cardinality": count}}
    return Run(settings, coverage_set, metrics, [], {}, spec=spec)


def brushed(page: Page, session: CDPSession) -> tuple[list[float], list[float]]:
    """Drag along the first axis, and read how long each move took, and how long it computed."""
    page.evaluate(TIMED)
    computed = []
    box = page.locator(".view-parallel canvas").last.bounding_box()
    assert box is not None
    x, low, high = box["x"] + 46, box["y"] + 0.9 * box["height"], box["y"] + 0.2 * box["height"]
    page.mouse.move(x, low)
    page.mouse.down()
    for y in np.linspace(low, high, MOVES):
        before = metric(session, "TaskDuration")
        page.mouse.move(x, float(y))
        page.wait_for_timeout(30)
        computed.append(1e3 * (metric(session, "TaskDuration") - before))
    page.mouse.up()
    page.wait_for_timeout(300)
    return page.evaluate("window.brushes"), computed


def metric(session: CDPSession, name: str) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in metrics if one["name"] == name)


def heap_megabytes(session: CDPSession) -> float:
    session.send("HeapProfiler.collectGarbage")
    return metric(session, "JSHeapUsedSize") / 1e6


def renderer_megabytes(browser_session: CDPSession) -> float:
    """The resident memory of the largest renderer process, which is that of the page."""
    processes = browser_session.send("SystemInfo.getProcessInfo")["processInfo"]
    return max(
        int(line.split()[1]) / 1e3
        for process in processes
        if process["type"] == "renderer"
        for line in Path(f"/proc/{process['id']}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    )


def main(sizes: list[int]) -> None:
    print(
        "| policies | ready, ms | brush, median ms | worst | computing, median ms | worst "
        "| script's heap, MB | process, MB |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with sync_playwright() as playwright:
        executable = shutil.which("chromium") or shutil.which("chromium-browser")
        for size in sizes:
            explorer = Explorer([ShownRun("made up", made_run(size))])
            server = PageServer(explorer)
            server.start()
            ready, brushes, computed, heap, resident = [], [], [], [], []
            for _ in range(REPEATS):
                gc.collect()
                browser = playwright.chromium.launch(
                    executable_path=executable, args=["--no-sandbox"]
                )
                page = browser.new_page(viewport=VIEWPORT)
                page.goto(server.address)
                page.wait_for_selector("html[data-ready]")
                ready.append(page.evaluate("performance.getEntriesByName('ready')[0].startTime"))
                session = page.context.new_cdp_session(page)
                session.send("Performance.enable", {"timeDomain": "threadTicks"})
                waited, worked = brushed(page, session)
                brushes += waited
                computed += worked
                heap.append(heap_megabytes(session))
                resident.append(renderer_megabytes(browser.new_browser_cdp_session()))
                browser.close()
            server.close()
            print(
                f"| {size:,} | {statistics.median(ready):.0f} | {statistics.median(brushes):.0f} "
                f"| {max(brushes):.0f} | {statistics.median(computed):.0f} | {max(computed):.0f} "
                f"| {statistics.median(heap):.1f} "
                f"| {statistics.median(resident):.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [10, 1_000, 5_000])
