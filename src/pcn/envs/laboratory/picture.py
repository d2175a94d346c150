"""A picture of a grid of cells, for all environments of the laboratory."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import UInt8

from pcn.envs.drawing import Canvas, Colour

FLOOR: Colour = (250, 246, 236)
AGENT: Colour = (226, 74, 62)


def grid_picture(
    rows: Sequence[Sequence[str]],
    colours: Mapping[str, Colour],
    agent: tuple[float, float],
    *,
    caption: str = "",
    pixels: int = 40,
) -> UInt8[np.ndarray, "height width 3"]:
    """Cells in the colours of their marks, the agent at (row, column), and a line of text below."""
    width, height = max(map(len, rows)), len(rows)
    canvas = Canvas(width=width, height=height + 0.6, pixels_per_unit=pixels)
    for y, row in enumerate(rows):
        for x, mark in enumerate(row):
            fill = colours.get(mark, FLOOR)
            canvas.rectangle(x + 0.03, y + 0.03, x + 0.97, y + 0.97, fill=fill)
            if mark.strip():
                canvas.text(x + 0.5, y + 0.5, mark, size=0.4, fill=(40, 40, 40))
    canvas.circle(agent[1] + 0.5, agent[0] + 0.5, 0.3, fill=AGENT)
    canvas.text(width / 2, height + 0.3, caption, size=0.36, fill=(60, 60, 60))
    return canvas.pixels()
