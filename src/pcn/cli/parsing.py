"""Parse the command line with tyro, and report mistakes in one sentence."""

import dataclasses
import io
import re
import sys
import textwrap
from contextlib import redirect_stderr, redirect_stdout, suppress
from shutil import get_terminal_size
from typing import Annotated, Any, TextIO, cast, get_type_hints

import tyro

from pcn.cli.numbers import REGISTRY
from pcn.errors import UserError, perhaps
from pcn.field_docs import field_docs, paragraphs

CONFIG = (tyro.conf.OmitArgPrefixes, tyro.conf.PositionalMetavarFromFieldName)

REWORDED = (
    (r"error parsing (\S+): (.*)", r"\1: \2"),
    (
        r"invalid choice '(.*)' for argument '(.*)'\. Expected one of \((.*)\)",
        r"\2 must be one of \3, got '\1'",
    ),
    (r"missing value for argument '(.*)'\. Expected 1 values", r"\1 needs a value"),
    (r"unrecognized options: (.*)", r"unexpected argument: \1"),
)
"""Error messages of tyro, and our wording of them."""
COLOURS = re.compile(r"\x1b\[[\d;]*m")
"""Escape sequences, which tyro writes where standard output is a terminal."""


def parse(kind: Any, arguments: list[str], program: str) -> Any:
    """The command that the arguments mean; a `UserError` says what is wrong with them."""
    said = io.StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(cast(TextIO, _Wrapping())):
            return tyro.cli(
                _with_help(kind),
                args=arguments,
                prog=program,
                description=paragraphs(kind.__doc__ or ""),
                registry=REGISTRY,
                config=CONFIG,
            )
    except SystemExit as stop:
        if not stop.code:
            raise
        unknown = _unknown_option(kind, arguments)
        box = COLOURS.sub("", said.getvalue())
        sentence = unknown or _missing(box, program) or _in_one_line(box)
        raise UserError(f"{sentence}; see `{program} --help`") from None


def _with_help(kind: Any) -> Any:
    """The command with the docstrings of its options as their help, broken by the terminal alone.

    Options without a default get no `(default: None)`: their help says what happens if they
    are not given.
    """
    kinds, docs = get_type_hints(kind, include_extras=True), field_docs(kind)
    fields = []
    for field in dataclasses.fields(kind):
        hint = "" if field.default in (None, ()) else None
        shown = tyro.conf.arg(help=docs.get(field.name), help_behavior_hint=hint)
        default: Any = dataclasses.field(
            default=field.default, default_factory=field.default_factory, kw_only=field.kw_only
        )
        fields.append((field.name, Annotated[kinds[field.name], shown], default))
    return dataclasses.make_dataclass(kind.__name__, fields, bases=(kind,), frozen=True)


class _Wrapping:
    """Standard output that breaks lines of text which are wider than the terminal.

    tyro breaks lines only in boxes, and joins lines that were broken before.
    """

    def __init__(self) -> None:
        self._out, self._width = sys.stdout, get_terminal_size().columns

    def write(self, text: str) -> int:
        lines = text.split("\n")
        return self._out.write("\n".join(map(self._broken, lines)))

    def _broken(self, line: str) -> str:
        if not line[:1].isalpha():
            return line
        return textwrap.fill(line, self._width, break_on_hyphens=False)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)


def options_of(kind: Any) -> list[str]:
    """Every option of a command, as it is typed."""
    shown = io.StringIO()
    with redirect_stdout(shown), suppress(SystemExit):
        tyro.cli(kind, args=["--help"], prog="pcn", registry=REGISTRY, config=CONFIG)
    begins = re.compile(r"^[│ ]*(?:-\w, )?(--[\w.-]+(?:, --[\w.-]+)*)", re.MULTILINE)
    return sorted(
        {word for words in begins.findall(shown.getvalue()) for word in words.split(", ")}
    )


def _unknown_option(kind: Any, arguments: list[str]) -> str | None:
    """A sentence on the first option that does not exist, with a suggestion."""
    known = options_of(kind)
    for argument in arguments:
        if argument == "--":
            return None
        option = argument.partition("=")[0]
        if not option.startswith("--") or option.replace("_", "-") in known:
            continue
        return f"there is no option {option}{perhaps(option, known, most=2)}"
    return None


def _missing(box: str, program: str) -> str | None:
    """A sentence on required arguments that are missing."""
    if "Missing from" not in box:
        return None
    # Names are indented once, and what they mean twice; a long meaning has several lines. The
    # advice at the end is indented once, too, and has nothing below it.
    needed: list[tuple[str, list[str]]] = []
    for line in re.findall(r"^\W? {5,}\S.*", box.partition("Missing from")[2], re.MULTILINE):
        words = re.sub(r"[│|]", " ", line)
        if words.startswith(" " * 9) and needed:
            needed[-1][1].append(words.strip())
        elif not words.startswith(" " * 9):
            needed.append((words.strip(), []))
    named = [f"{name} ({meaning})" for name, lines in needed if (meaning := _meaning(lines))]
    return f"`{program}` needs {' and '.join(named)}"


def _meaning(lines: list[str]) -> str:
    """The meaning of an argument, for parentheses."""
    sentence = " ".join(lines).replace("(required)", "").strip().rstrip(".")
    return sentence[:1].lower() + sentence[1:]


def _in_one_line(box: str) -> str:
    """The first sentence of an error in a box, as one line, without its title and advice."""
    parts: list[list[str]] = [[]]
    for line in box.splitlines():
        words = re.sub(r"[│╭╮╰╯|+]", " ", line).strip()
        if re.fullmatch(r"[─ -]*|[─-]{2,}.*[─-]{2,}|─.*─", words):
            parts.append([])
        else:
            parts[-1].append(words)
    texts = [" ".join(" ".join(part).split()) for part in parts if part]
    # Where a box has no room for its title in its border, the title comes first.
    whole = (part for part in texts if ":" in part or part.endswith("."))
    sentence = next(whole, texts[0] if texts else "")
    sentence = sentence.rstrip(".") or "these arguments cannot be read"
    sentence = sentence[:1].lower() + sentence[1:]
    for theirs, ours in REWORDED:
        sentence = re.sub(f"^{theirs}$", ours, sentence)
    return sentence
