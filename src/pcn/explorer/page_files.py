"""The files of the page, as they are in the package."""

from functools import cache
from pathlib import Path

PAGE = Path(__file__).parent / "page"
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
"""The files that are served beside `index.html`, by their endings."""


def index_html() -> str:
    """The page itself."""
    return (PAGE / "index.html").read_text(encoding="utf-8")


@cache
def page_file_names() -> frozenset[str]:
    """The names of the page's files besides `index.html`; no other file is ever served."""
    return frozenset(path.name for path in PAGE.iterdir() if path.suffix in KINDS)
