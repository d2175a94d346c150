"""Tables that are wider than the terminal: headings of several lines, columns in several parts."""

import textwrap

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table

BETWEEN = 2
"""Spaces between two columns."""


def narrow_parts(table: Table, console: Console) -> list[Table]:
    """The table in parts that the terminal has room for; each begins with the first column.

    Where the table is too wide, headings are broken first, because that may be enough.
    """
    if _total_width(table.columns, console) <= console.width:
        return [table]
    columns = [
        Column(header=_broken_heading(column), justify=column.justify, _cells=list(column.cells))
        for column in table.columns
    ]
    first, *others = columns
    groups: list[list[Column]] = [[first]]
    for column in others:
        if len(groups[-1]) > 1 and _total_width([*groups[-1], column], console) > console.width:
            groups.append([first])
        groups[-1].append(column)
    return [_table_of(group) for group in groups]


def _broken_heading(column: Column) -> str:
    """The heading of a column in lines that are as wide as its cells, or as one word."""
    heading = str(column.header)
    widest = max(len(text) for text in [*heading.split(), *map(str, column.cells), " "])
    return textwrap.fill(heading, widest, break_long_words=False, break_on_hyphens=False)


def _table_of(columns: list[Column]) -> Table:
    """A table of these columns."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column.header, justify=column.justify, vertical="bottom")
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    return table


def _total_width(columns: list[Column], console: Console) -> int:
    """How wide these columns are side by side."""
    widths = [_width_of(column, console) for column in columns]
    return sum(widths) + BETWEEN * (len(widths) - 1)


def _width_of(column: Column, console: Console) -> int:
    """How wide the widest cell of a column is."""
    cells = [column.header, *column.cells]
    return max(Measurement.get(console, console.options, cell).maximum for cell in cells)
