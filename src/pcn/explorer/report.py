"""The page as one file that needs nothing else: no server, no network, no other file."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from pcn.explorer.bundle import bundled
from pcn.explorer.document import compact_json, document_of
from pcn.explorer.page_files import PAGE, index_html
from pcn.explorer.shown_runs import ShownRun

STYLE = '<link rel="stylesheet" href="page/style.css">'
SCRIPT = '<script type="module" src="page/main.js"></script>'


def report_html(
    runs: Sequence[ShownRun],
    rollouts: Mapping[str, Mapping[str, Any]],
    *,
    left_out: Sequence[str] = (),
) -> str:
    """The file's content, with rollouts by `run/policy` and a sentence for each run left out."""
    document = document_of(runs, live=False, left_out=left_out)
    return inlined(index_html(), page_sources(), document, rollouts)


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
