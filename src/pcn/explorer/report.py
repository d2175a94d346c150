"""The page as one file that needs nothing else: no server, no network, no other file."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from pcn.explorer.bundle import bundled
from pcn.explorer.document import compact_json, document_of
from pcn.explorer.page_files import PAGE, index_html
from pcn.explorer.rollouts import Limits, Performer
from pcn.explorer.shown_runs import ShownRun
from pcn.explorer.suggestions import suggest
from pcn.pareto import best_first

STYLE = '<link rel="stylesheet" href="page/style.css">'
SCRIPT = '<script type="module" src="page/main.js"></script>'
PICTURE_BYTES = 3_200_000
"""All pictures of a report together, before they are written as text, which adds a third."""
MOST_PICTURE_BYTES = 400_000
"""The pictures of one rollout in a report."""

REPORT_FRAMES = 60
"""Pictures of one rollout in a report, at most."""

Told = Callable[[int, int], None]
"""Called after each rollout with how many there are by then, and of how many."""


def report_html(
    runs: Sequence[ShownRun],
    *,
    num_rollouts: int | None,
    left_out: Sequence[str] = (),
    told: Told = lambda done, all_of_them: None,
) -> str:
    """The file's content; `num_rollouts` of each run are embedded, or with None all of them."""
    document = document_of(runs, live=False, left_out=left_out)
    rollouts = executed_rollouts(runs, num_rollouts, told)
    return inlined(index_html(), page_sources(), document, rollouts)


def executed_rollouts(
    runs: Sequence[ShownRun], num_rollouts: int | None, told: Told
) -> dict[str, dict[str, Any]]:
    """Rollouts of chosen policies by `run/policy`; runs that cannot be watched have none."""
    chosen = [
        (number, policy)
        for number, shown in enumerate(runs)
        if num_rollouts != 0 and shown.why_not_watched is None
        for policy in chosen_policies(shown, num_rollouts)
    ]
    share = min(MOST_PICTURE_BYTES, PICTURE_BYTES // max(1, len(chosen)))
    limits = Limits(picture_bytes=share, most_frames=REPORT_FRAMES)
    performers: dict[int, Performer] = {}
    rollouts = {}
    try:
        for number, policy in chosen:
            if number not in performers:
                performers[number] = Performer(runs[number].acting)
            rollout = performers[number].execute_policy(policy, seed=0, limits=limits)
            rollouts[f"{number}/{policy}"] = {"run": number, **rollout}
            told(len(rollouts), len(chosen))
    finally:
        for performer in performers.values():
            performer.close()
    return rollouts


def chosen_policies(shown: ShownRun, num_rollouts: int | None) -> list[int]:
    """The policies that are worth watching: suggestions first, then those that differ most."""
    coverage_set = shown.run.coverage_set
    if num_rollouts is None:
        return list(range(len(coverage_set)))
    front = np.flatnonzero(coverage_set.front_mask)
    spread = front[best_first(coverage_set.executed[front])].tolist()
    suggested = [suggestion["policy"] for suggestion in suggest(shown.run)]
    return list(dict.fromkeys([*suggested, *spread]))[:num_rollouts]


def page_sources() -> dict[str, str]:
    """The page's modules and its style, by their file names."""
    files = [*PAGE.glob("*.js"), PAGE / "style.css"]
    return {path.name: path.read_text(encoding="utf-8") for path in files}


def inlined(
    index: str,
    sources: Mapping[str, str],
    document: Mapping[str, Any],
    rollouts: Mapping[str, Any],
) -> str:
    """The page with its style, its script and its data in it.

    Its content policy allows this one script and no request to anywhere.
    """
    for part in (STYLE, SCRIPT):
        if index.count(part) != 1:
            raise ValueError(f"index.html must contain {part} once")
    modules = {name: text for name, text in sources.items() if name.endswith(".js")}
    # In a script, the only thing that can end it early is its own closing tag.
    script = bundled(modules).replace("</script", "<\\/script").replace("<!--", "<\\!--")
    style = sources["style.css"].replace("</style", "<\\/style")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
    data = "\n".join(
        f'<script type="application/json" id="{name}">{embedded_json(content)}</script>'
        for name, content in (("document", document), ("rollouts", rollouts))
    )
    title = f"<title>{escape(str(document['title']))} · pcn report</title>"
    page, titles = re.subn(
        r"<title>.*?</title>", lambda _: f"{head}\n{title}", index, count=1, flags=re.DOTALL
    )
    if titles != 1:
        raise ValueError("index.html must have a title")
    page = page.replace(STYLE, f"<style>\n{style}\n</style>")
    return page.replace(SCRIPT, f'{data}\n<script type="module">\n{script}\n</script>')


def embedded_json(content: Any) -> str:
    """JSON that HTML cannot mistake for anything else.

    >>> embedded_json({"name": "</script><!--"})
    '{"name":"\\\\u003c/script>\\\\u003c!--"}'
    """
    return compact_json(content).replace("<", "\\u003c")
