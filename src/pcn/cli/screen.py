"""Print tables, metrics, next steps and error messages."""

import io
import os
import shlex
import shutil
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from pcn.cli.narrow_tables import narrow_parts


class _Screen(Console):
    """A console that lets a command continue when the reader of a pipe has closed it."""

    def on_broken_pipe(self) -> None:
        """Continue without a reader."""
        discard_output()


def discard_output() -> None:
    """Redirect standard output to /dev/null, as after a broken pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_streams() -> None:
    """Replace standard streams that are closed, and make encoding errors harmless.

    Characters that the terminal's encoding does not have become question marks.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller, as in `pcn envs >&-`
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


open_streams()
# Where there is no terminal, lines are as long as they need to be.
console = _Screen(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)


def quoted(path: object) -> str:
    """A path quoted for a shell, and escaped for rich."""
    return escape(shlex.quote(str(path)))


def print_table(table: Table) -> None:
    """Print a table as wide as it is; in a narrow terminal, in as many parts as needed."""
    parts = narrow_parts(table, console) if console.is_terminal else [table]
    for number, part in enumerate(parts):
        if number > 0:
            console.print()
        wide = console.options.update(width=10_000)
        width = Measurement.get(console, wide, part).maximum
        console.print(part, width=width, crop=False, no_wrap=True, overflow="ignore")


def print_sentence(sentence: str, to: Console | None = None) -> None:
    """Print a sentence, which a terminal breaks between words; elsewhere it is one line."""
    screen = to or console
    screen.print(sentence, soft_wrap=not screen.is_terminal)


def print_fact(keyword: str, text: str, indent: int = 10) -> None:
    """Print a keyword in bold and a sentence behind it, which starts in column `indent`."""
    console.print(f"[bold]{keyword:<{indent}}[/]{escape(wrapped(text, indent))}")


def wrapped(text: str, indent: int = 0) -> str:
    """A text that a terminal breaks between words; its further lines start in column `indent`."""
    room = console.width - indent
    if not console.is_terminal or room < indent:
        return text
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    return f"\n{'':<{indent}}".join(lines)


def complain(sentence: str) -> None:
    """Print one sentence on standard error, if it is open."""
    with suppress(OSError, ValueError):
        print(f"pcn: {' '.join(sentence.split())}", file=sys.stderr)


def number(value: float) -> str:
    """A number in up to six digits."""
    return f"{value + 0.0:.6g}"  # adding zero makes no minus zero


def count_of(count: float, noun: str, nouns: str = "") -> str:
    """A number with its noun; `nouns` is the plural if it does not end in s.

    >>> count_of(1, "step"), count_of(12, "step"), count_of(2, "policy", "policies")
    ('1 step', '12 steps', '2 policies')
    """
    return f"{count:g} {noun}" if count == 1 else f"{count:g} {nouns or noun + 's'}"


def vector(values: Any) -> str:
    """Several numbers in parentheses."""
    return "(" + ", ".join(number(float(value)) for value in values) + ")"


def next_steps(*commands: tuple[str, str]) -> None:
    """Print what to type next; commands are given without the program's name."""
    console.print("\nNext:")
    width = max(len(command) for command, _ in commands)
    widest = max(len(f"  {program()} {'':<{width}}   {purpose}") for _, purpose in commands)
    if console.is_terminal and widest > console.width:
        for command, purpose in commands:
            console.print(f"  {program()} {command}\n      [dim]{purpose}[/]")
        return
    for command, purpose in commands:
        console.print(f"  {program()} {command:<{width}}   [dim]{purpose}[/]")


def program() -> str:
    """How this program was called: `pcn` where the shell finds it, otherwise its path."""
    called = Path(sys.argv[0])
    if called.stem != "pcn" or shutil.which("pcn") == str(called.resolve()):
        return "pcn"
    if called.is_absolute() and called.is_relative_to(Path.cwd()):
        return str(called.relative_to(Path.cwd()))
    return str(called)
