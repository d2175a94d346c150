"""Tables as text: Markdown, and numbers as people read them."""

from collections.abc import Sequence

import numpy as np

NOTHING = "–"  # noqa: RUF001 (an empty cell)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> str:
    """A table in Markdown; the first columns are `words`, the others numbers to the right.

    >>> print(markdown_table(["a", "b"], [["x", "1"]]))
    | a | b |
    |---|--:|
    | x | 1 |
    """
    rule = ["---"] * words + ["--:"] * (len(header) - words)
    lines = [_line(header), "|" + "|".join(rule) + "|", *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def shown(value: float) -> str:
    """A number in up to six digits; a dash for none.

    >>> shown(22855.0), shown(0.0123456789)
    ('22855', '0.0123457')
    """
    return f"{value + 0.0:.6g}" if np.isfinite(value) else NOTHING
