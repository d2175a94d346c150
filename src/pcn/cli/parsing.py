"""From words on the command line to a command: tyro reads them, and mistakes become a sentence."""

import io
import re
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any

import tyro

from pcn.cli.numbers import REGISTRY
from pcn.errors import UserError, perhaps

CONFIG = (tyro.conf.OmitArgPrefixes,)


def parse(kind: Any, arguments: list[str], program: str) -> Any:
    """The command that the arguments stand for; a `UserError` says what is wrong with them."""
    said = io.StringIO()
    try:
        with redirect_stderr(said):
            return tyro.cli(kind, args=arguments, prog=program, registry=REGISTRY, config=CONFIG)
    except SystemExit as stop:
        if not stop.code:
            raise
        unknown = _unknown_option(kind, arguments)
        raise UserError(
            f"{unknown or _in_one_line(said.getvalue())}; see `{program} --help`"
        ) from None


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
    """A sentence on the first option that does not exist, and one that was perhaps meant."""
    known = options_of(kind)
    for argument in arguments:
        if argument == "--":
            return None
        option = argument.partition("=")[0]
        if not option.startswith("--") or option.replace("_", "-") in known:
            continue
        return f"there is no option {option}{perhaps(option, known, most=2)}"
    return None


def _in_one_line(box: str) -> str:
    """What an error in a box says first, as one line; its title and its advice are left out."""
    parts: list[list[str]] = [[]]
    for line in box.splitlines():
        words = re.sub(r"[│╭╮╰╯|+]", " ", line).strip()
        if re.fullmatch(r"[─ -]*|[─-]{2,}.*[─-]{2,}|─.*─", words):
            parts.append([])
        else:
            parts[-1].append(words)
    told = [" ".join(" ".join(part).split()) for part in parts if part]
    # Where a box has no room for its title in its border, the title comes first.
    whole = (part for part in told if ":" in part or part.endswith("."))
    sentence = next(whole, told[0] if told else "")
    sentence = sentence.rstrip(".") or "these arguments cannot be read"
    return sentence[:1].lower() + sentence[1:]
