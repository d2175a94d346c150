"""A picture of the crossroad from above: roads, lights, and cars coloured by their time in it."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import UInt8

from pcn.envs.crossroad.simulation import Phase
from pcn.envs.drawing import Canvas, Colour

SIDE, HEADER = 200.0, 18.0
"""Metres of road, and of the bar above it."""
LANE = 3.2
HORIZONTAL, VERTICAL = 2 * LANE, LANE
"""Half the width of each road."""
STOP_X, STOP_Y = 92.8, 89.6
"""Where cars stop: metres from the edge of the picture, on the horizontal and vertical road."""

_GRASS, _ROAD, _MARK, _EDGE = (222, 232, 214), (98, 104, 114), (214, 218, 224), (150, 156, 166)
_INK, _PAPER, _LEAVING = (48, 54, 64), (250, 250, 248), (236, 240, 246)
_GREEN, _YELLOW, _RED = (34, 180, 90), (250, 190, 30), (222, 60, 55)
_SCALE: tuple[Colour, ...] = ((92, 174, 255), (255, 214, 74), (255, 140, 40), (222, 40, 90))
"""Colours of a car that has just come, and ever later."""
LONG = 60.0
"""Seconds in the system from which on a car has the last colour."""


class CarInPicture(NamedTuple):
    """The middle of a car's front in metres, y upwards; its time is None once it has left."""

    x: float
    y: float
    angle: float
    time: int | None


def picture(
    cars: list[CarInPicture], phase: Phase, *, step: int, flow: int
) -> UInt8[np.ndarray, "height width 3"]:
    """The whole crossroad, north at the top."""
    canvas = Canvas(width=SIDE, height=SIDE + HEADER, pixels_per_unit=3.0, background=_GRASS)
    _draw_roads(canvas)
    _draw_lights(canvas, phase)
    for car in cars:
        _draw_car(canvas, car)
    _draw_header(canvas, cars, step, flow)
    return canvas.pixels()


def colour_of(time: float) -> Colour:
    """From blue for a car that has just come to red for one that has been here long."""
    place = min(time / LONG, 1.0) * (len(_SCALE) - 1)
    first = min(int(place), len(_SCALE) - 2)
    share = place - first
    red, green, blue = (
        round(a + (b - a) * share) for a, b in zip(_SCALE[first], _SCALE[first + 1], strict=True)
    )
    return red, green, blue


def _draw_roads(canvas: Canvas) -> None:
    middle, top = SIDE / 2, HEADER
    centre = middle + top
    canvas.rectangle(0, centre - HORIZONTAL - 1, SIDE, centre + HORIZONTAL + 1, fill=_EDGE)
    canvas.rectangle(middle - VERTICAL - 1, top, middle + VERTICAL + 1, SIDE + top, fill=_EDGE)
    canvas.rectangle(0, centre - HORIZONTAL, SIDE, centre + HORIZONTAL, fill=_ROAD)
    canvas.rectangle(middle - VERTICAL, top, middle + VERTICAL, SIDE + top, fill=_ROAD)
    for start, end in ((0.0, STOP_X), (SIDE - STOP_X, SIDE)):
        canvas.line([(start, centre), (end, centre)], fill=_MARK, width=0.5)
        for shift in (-LANE, LANE):
            at = start
            while at < end:
                dash = [(at, centre + shift), (min(at + 3, end), centre + shift)]
                canvas.line(dash, fill=_MARK, width=0.35)
                at += 6
    for start, end in ((0.0, STOP_Y), (SIDE - STOP_Y, SIDE)):
        canvas.line([(middle, top + start), (middle, top + end)], fill=_MARK, width=0.5)


def _draw_lights(canvas: Canvas, phase: Phase) -> None:
    """A bar across each lane where cars stop, and a lamp beside it."""
    middle, centre = SIDE / 2, SIDE / 2 + HEADER
    shown = _YELLOW if phase.is_yellow else _GREEN
    along, across = (shown, _RED) if phase < Phase.VERTICAL_GREEN else (_RED, shown)
    for side in (-1, 1):
        x = middle + side * (SIDE / 2 - STOP_X)
        # Traffic keeps to the right: from the west on the lower half, from the east on the upper.
        inner, outer = centre, centre - side * HORIZONTAL
        canvas.rectangle(x - 0.8, min(inner, outer), x + 0.8, max(inner, outer), fill=along)
        _draw_lamp(canvas, x, outer - side * 4.5, along)
        y = centre + side * (SIDE / 2 - STOP_Y)
        inner, outer = middle, middle + side * VERTICAL
        canvas.rectangle(min(inner, outer), y - 0.8, max(inner, outer), y + 0.8, fill=across)
        _draw_lamp(canvas, outer + side * 4.5, y, across)


def _draw_lamp(canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    canvas.circle(x, y, 3.2, fill=_INK)
    canvas.circle(x, y, 2.3, fill=colour)


def _draw_car(canvas: Canvas, car: CarInPicture) -> None:
    angle = math.radians(car.angle)
    ahead = (math.sin(angle), -math.cos(angle))  # y downwards
    x, y = car.x, SIDE - car.y + HEADER

    def box(front: float, back: float, half: float) -> list[tuple[float, float]]:
        return [
            (x - along * ahead[0] - side * ahead[1], y - along * ahead[1] + side * ahead[0])
            for along, side in ((front, half), (front, -half), (back, -half), (back, half))
        ]

    colour = _LEAVING if car.time is None else colour_of(car.time)
    canvas.polygon(box(0.0, 5.0, 1.2), fill=_INK)
    canvas.polygon(box(0.3, 4.7, 0.95), fill=colour)
    canvas.polygon(box(1.2, 2.2, 0.8), fill=_INK)  # windscreen: where the front is


def _draw_header(canvas: Canvas, cars: list[CarInPicture], step: int, flow: int) -> None:
    """Time, cars that have left, the mean time of the others, and what the colours mean."""
    canvas.rectangle(0, 0, SIDE, HEADER, fill=_PAPER)
    times = [car.time for car in cars if car.time is not None]
    mean = sum(times) / len(times) if times else 0.0
    first, second = HEADER * 0.3, HEADER * 0.72
    canvas.text(4, first, f"{step} s", size=6, fill=_INK, anchor="lm")
    canvas.text(34, first, f"{flow} cars have left", size=6, fill=_INK, anchor="lm")
    waiting = f"{len(times)} on their way, for {mean:.0f} s on average"
    canvas.text(SIDE - 4, first, waiting, size=6, fill=_INK, anchor="rm")
    canvas.text(4, second, "time so far", size=5, fill=_INK, anchor="lm")
    left, width = 34.0, 84.0
    for number in range(42):
        x = left + number * width / 42
        canvas.rectangle(
            x, second - 2, x + width / 42, second + 2, fill=colour_of(number / 41 * 60)
        )
    canvas.text(left - 1, second, "0", size=4.5, fill=_INK, anchor="rm")
    canvas.text(left + width + 2, second, "60 s or more", size=4.5, fill=_INK, anchor="lm")
    canvas.rectangle(160, second - 2, 166, second + 2, fill=_INK)
    canvas.rectangle(160.4, second - 1.6, 165.6, second + 1.6, fill=_LEAVING)
    canvas.text(SIDE - 4, second, "has left", size=4.5, fill=_INK, anchor="rm")
