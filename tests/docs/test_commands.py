"""Every `pcn` line that a page prints is understood by the command line, option by option."""

import importlib
import re
import shlex
from pathlib import Path

import pytest

from pcn.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def command_lines(page):
    """The `pcn` lines of a page's shell blocks, without prompts and comments."""
    for block in re.findall(r"^```(?:bash|console)\n(.*?)^```", page.read_text(), re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:1] == ["pcn"] and not set("{$") & set(" ".join(words)):  # are the shell's
                yield words[1:]


CASES = [
    pytest.param(words, id=f"{page.relative_to(ROOT)}: pcn {' '.join(words)}")
    for page in PAGES
    for words in command_lines(page)
]


def test_the_pages_print_commands():
    assert len(CASES) > 30


@pytest.mark.parametrize("words", CASES)
def test_a_printed_command_is_understood(words, monkeypatch, capsys):
    where = COMMANDS[words[0]]
    command = getattr(importlib.import_module(where.module), where.name)
    called = []
    monkeypatch.setattr(command, "__call__", lambda self: called.append(self))
    main(words)
    assert len(called) == 1
