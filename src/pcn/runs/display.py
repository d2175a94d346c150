"""A run as notebooks display it: one line of metrics, a picture of the front, a small table."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from pcn.envs.spec import EnvironmentSpec
from pcn.pareto import shares

if TYPE_CHECKING:
    from pcn.runs.run import Run

MOST_ROWS = 10
"""Policies in the table."""
MOST_MARKS = 300
"""Points, or lines, in the picture."""
WIDTH, HEIGHT, MARGIN = 360, 220, 34
COLOUR = "#0b6fb8"


def run_html(run: "Run") -> str:
    """The run as HTML; for format 1, which stores no objective names, only one line."""
    line = f"<p>{escape(repr(run))}</p>"
    if run._spec is None:
        return line
    mark = "" if run.is_executed else "<p><strong>NOT EXECUTED</strong></p>"
    front = front_svg(run.coverage_set.front, run.spec)
    return f"<div>{line}{mark}{front}{_table(run, run.spec)}</div>"


def shown_value(value: float, direction: str) -> str:
    """A return as a person reads it: a quantity to minimise has no minus sign.

    >>> shown_value(-13.0, "minimise")
    '13'
    """
    return f"{(-value if direction == 'minimise' else value) + 0.0:.6g}"


def shown_name(name: str, unit: str) -> str:
    """An objective's name, with its unit where it has one.

    >>> shown_name("time", "steps")
    'time [steps]'
    """
    return f"{name} [{unit}]" if unit else name


def front_svg(front: Float[np.ndarray, "point objective"], spec: EnvironmentSpec) -> str:
    """An SVG of the front: two objectives as points, more as a line for each policy."""
    names = [escape(shown_name(one.name, one.unit)) for one in spec.objectives]
    if len(front) > MOST_MARKS:
        front = front[np.linspace(0, len(front) - 1, MOST_MARKS).astype(int)]
    scaled = shares(front) if len(front) else front
    inner_width, inner_height = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    up = MARGIN + (1 - scaled) * inner_height
    if len(names) == 2:
        across = MARGIN + scaled[:, 0] * inner_width
        marks = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{COLOUR}"/>'
            for x, y in zip(across, up[:, 1], strict=True)
        )
        words = _text(WIDTH / 2, HEIGHT - 8, f"{names[0]} →") + _text(
            WIDTH / 2, 16, f"↑ {names[1]}"
        )
    else:
        places = np.linspace(MARGIN, WIDTH - MARGIN, len(names))
        opacity = max(0.05, min(0.8, 40 / max(len(front), 1)))
        marks = "".join(
            f'<polyline points="{_points(places, row)}" fill="none" stroke="{COLOUR}" '
            f'stroke-opacity="{opacity:.2g}"/>'
            for row in up
        )
        words = "".join(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{MARGIN}" y2="{HEIGHT - MARGIN}" '
            'stroke="currentColor" stroke-opacity="0.3"/>' + _text(x, HEIGHT - 12, name, size=9)
            for x, name in zip(places, names, strict=True)
        )
    label = escape(f"The front: {len(front)} policies")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{words}{marks}</svg>'
    )


def _points(places: np.ndarray, row: np.ndarray) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(places, row, strict=True))


def _text(x: float, y: float, words: str, *, size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="{size}" '
        f'fill="currentColor">{words}</text>'
    )


def _table(run: "Run", spec: EnvironmentSpec) -> str:
    """A table of the executed returns of the first policies."""
    header = "".join(
        f"<th>{escape(name)}</th>"
        for name in ("policy", *(shown_name(one.name, one.unit) for one in spec.objectives))
    )
    indices = np.flatnonzero(run.coverage_set.front_mask)
    rows = "".join(
        f"<tr><td>{index}</td>"
        + "".join(
            f"<td>{shown_value(value, one.direction)}</td>"
            for value, one in zip(run.coverage_set.executed[index], spec.objectives, strict=True)
        )
        + "</tr>"
        for index in indices[:MOST_ROWS].tolist()
    )
    more = len(indices) - MOST_ROWS
    rest = f"<p>… and {more} more non-dominated policies</p>" if more > 0 else ""
    return f"<table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>{rest}"
