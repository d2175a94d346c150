"""The pages of the documentation, and the blocks of code that they print."""

import re
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def text_of(name):
    """A page by its path in the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def section(name, heading):
    """The part of a page from a heading to the next one of the same or a higher level."""
    level = len(heading.partition(" ")[0])
    _, found, rest = text_of(name).partition(f"\n{heading}\n")
    assert found, f"{name} has no heading {heading!r}"
    kept, in_code = [], False
    for line in rest.splitlines(keepends=True):
        in_code ^= line.lstrip().startswith("```")
        if not in_code and re.match(rf"#{{1,{level}}} ", line):  # in code it is a comment
            break
        kept.append(line)
    return "".join(kept)


def blocks_in(text, *languages):
    """The blocks of code in a text, as they would be typed; those in lists are indented there."""
    found = re.findall(
        rf"^( *)```(?:{'|'.join(languages)})\n(.*?)^\1```", text, re.DOTALL | re.MULTILINE
    )
    return [dedent(code) for _, code in found]


def blocks(name, *languages):
    """The blocks of code of a page."""
    return blocks_in(text_of(name), *languages)
