"""Errors that callers are meant to catch."""

import shlex
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class UserError(ValueError):
    """A request that cannot be carried out; the message says why and, if possible, what to do
    instead.

    The command line prints it as one sentence and exits with code 2.
    """


class Stopped(Exception):
    """A training was stopped by its caller after an iteration.

    `path` is the run's folder, which holds a checkpoint to resume from; None where there is none.
    """

    def __init__(self, path: Path | None) -> None:
        super().__init__("stopped" if path is None else f"stopped; `{resuming(path)}` goes on")
        self.path = path


def resuming(path: str | Path) -> str:
    """The command that continues a run, quoted for a shell.

    >>> resuming("my runs/dst")
    "pcn resume 'my runs/dst'"
    """
    return f"pcn resume {shlex.quote(str(path))}"


def in_one_line(text: str, longest: int = 300) -> str:
    """A text for a sentence: without line breaks, and cut off where it is long.

    >>> in_one_line("array([1,\\n       2])")
    'array([1, 2])'
    >>> in_one_line("yes " * 9, longest=12)
    'yes yes yes…'
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def perhaps(word: str, known: Iterable[str], *, most: int = 1) -> str:
    """The end of a sentence that suggests what a misspelt or shortened word means; empty if nothing
    is close.

    >>> perhaps("trian", ["train", "play"])
    ', perhaps train was meant'
    >>> perhaps("dst", ["minecart", "deep-sea-treasure"])
    ', perhaps deep-sea-treasure was meant'
    >>> perhaps("room-7", ["room-1", "room-2", "room-3"])
    ', perhaps one of room-1 to room-3 was meant'
    """
    names = list(known)
    stem, numbers = _numbers_instead(word, names)
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f", perhaps one of {stem}{numbers[0]} to {stem}{numbers[-1]} was meant"
    near = get_close_matches(word, names, n=most) or [
        name for name in names if "-" in name and _initials(name) == word.lower()
    ]
    return f", perhaps {' or '.join(near)} was meant" if near else ""


def _initials(name: str) -> str:
    return "".join(part[:1] for part in name.lower().split("-"))


def _numbers_instead(word: str, names: list[str]) -> tuple[str, list[int]]:
    """What comes before the number that a word ends in, and the numbers that names have there."""
    stem = word.rstrip("0123456789")
    if stem == word:
        return stem, []
    ends = [name.removeprefix(stem) for name in names if name.startswith(stem)]
    return stem, sorted(int(end) for end in ends if end.isdecimal())
