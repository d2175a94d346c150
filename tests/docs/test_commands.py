"""Every `pcn` line that a page prints is understood by the command line, option by option."""

import importlib
import shlex

import pytest

from doc_pages import PAGES, ROOT, blocks_in
from pcn.cli.main import COMMANDS, main

ELSEWHERE = {"extend.md"}  # test_extend.py has the package that its commands are for


def command_lines(page):
    """The `pcn` lines of a page's shell blocks, without prompts and comments."""
    for block in blocks_in(page.read_text(), "bash", "console"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:1] == ["pcn"] and not set("{$") & set(" ".join(words)):  # are the shell's
                yield words[1:]


def options_of(words):
    """The command and the options of a line; the parser takes a second for each line."""
    return words[0], *sorted(word for word in words if word.startswith("--"))


LINES = [
    (page, words) for page in PAGES if page.name not in ELSEWHERE for words in command_lines(page)
]
CASES = {
    options_of(words): pytest.param(words, id=f"{page.relative_to(ROOT)}: pcn {' '.join(words)}")
    for page, words in reversed(LINES)
}
"""The first line of each command with the same options: what goes out of date are the options."""


def test_the_pages_print_commands():
    assert len(LINES) > 80
    assert len(CASES) > 30


@pytest.mark.parametrize("words", [*reversed(CASES.values())])
def test_a_printed_command_is_understood(words, monkeypatch, capsys):
    where = COMMANDS[words[0]]
    command = getattr(importlib.import_module(where.module), where.name)
    # `pcn train` makes its command of the options that are given: they share what is called.
    shared = next(kind for kind in command.__mro__ if "__call__" in vars(kind))
    called = []
    monkeypatch.setattr(shared, "__call__", lambda self: called.append(self))
    main(words)
    assert len(called) == 1
