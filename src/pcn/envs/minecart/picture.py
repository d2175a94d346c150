"""A picture of Minecart's field for people: base, mines, the cart with its load, fuel used."""

import math

import numpy as np
from jaxtyping import UInt8

from pcn.envs.drawing import Canvas

Pair = tuple[float, float]

_MARGIN, _HEADER = 0.11, 0.13  # around the unit square of the field
_SAND, _GROUND, _INK = (247, 241, 230), (232, 221, 200), (74, 62, 50)
_BASE, _PIT, _BODY = (206, 92, 70), (176, 158, 130), (60, 66, 76)
_ORES = ((57, 112, 252), (137, 48, 182))


def picture(
    position: Pair,
    *,
    angle: float,
    load: Pair,
    fuel_used: float,
    base_radius: float,
    mine_radius: float,
    mines: tuple[tuple[Pair, Pair], ...],
) -> UInt8[np.ndarray, "height width 3"]:
    """The field from above, y downwards.

    `angle` is in degrees, `load` in shares of the capacity, `mines` a place and its yield each.
    """
    side = 1 + 2 * _MARGIN
    canvas = Canvas(width=side, height=side + _HEADER, pixels_per_unit=330.0, background=_SAND)
    top = _MARGIN + _HEADER
    edge = _MARGIN - 0.085
    canvas.rectangle(edge, edge + _HEADER, side - edge, side - edge + _HEADER, fill=_GROUND)
    canvas.circle(_MARGIN, top, base_radius, fill=_BASE)
    canvas.rectangle(0.0, 0.0, side, edge + _HEADER, fill=_SAND)  # the base ends with the field
    canvas.rectangle(0.0, 0.0, edge, side, fill=_SAND)
    canvas.text(_MARGIN + 0.01, top - 0.02, "base", size=0.05, fill=_SAND)
    for (x, y), yields in mines:
        _draw_mine(canvas, x + _MARGIN, y + top, mine_radius, yields)
    _draw_cart(canvas, position[0] + _MARGIN, position[1] + top, math.radians(angle), load)
    canvas.text(edge, _HEADER / 2, f"fuel {fuel_used:.2f}", size=0.055, fill=_INK, anchor="lm")
    for ore, (share, colour) in enumerate(zip(load, _ORES, strict=True)):
        x = side - edge - 0.28 * (1 - ore)
        canvas.circle(x - 0.16, _HEADER / 2, 0.02, fill=colour)
        canvas.text(x, _HEADER / 2, f"{share:.0%}", size=0.055, fill=_INK, anchor="rm")
    return canvas.pixels()


def _draw_mine(canvas: Canvas, x: float, y: float, radius: float, yields: Pair) -> None:
    """A ring as wide as one can mine from, and a nugget of each ore, by its yield."""
    canvas.circle(x, y, radius, fill=_GROUND, outline=_PIT)
    canvas.circle(x, y, 0.075, fill=_PIT)
    for shift, amount, colour in zip((-0.028, 0.028), yields, _ORES, strict=True):
        if amount:
            canvas.circle(x + shift, y, 0.036 * math.sqrt(amount / 0.2), fill=colour)


def _draw_cart(canvas: Canvas, x: float, y: float, angle: float, load: Pair) -> None:
    """A box that fills with ore from the back, and a nose that shows the heading."""
    cos, sin = math.cos(angle), math.sin(angle)

    def turned(*points: Pair) -> list[Pair]:
        return [(x + u * cos - v * sin, y + u * sin + v * cos) for u, v in points]

    def box(back: float, front: float, left: float, right: float) -> list[Pair]:
        return turned((back, left), (front, left), (front, right), (back, right))

    for axle in (-0.032, 0.018):
        canvas.polygon(box(axle - 0.012, axle + 0.012, -0.044, 0.044), fill=_INK)
    canvas.polygon(turned((0.04, -0.032), (0.072, 0.0), (0.04, 0.032)), fill=_BASE)
    canvas.polygon(box(-0.055, 0.042, -0.034, 0.034), fill=_BODY)
    canvas.polygon(box(-0.047, 0.034, -0.026, 0.026), fill=_SAND)
    back = -0.047
    for share, colour in zip(load, _ORES, strict=True):
        front = back + 0.081 * share
        if share > 0:
            canvas.polygon(box(back, front, -0.026, 0.026), fill=colour)
        back = front
