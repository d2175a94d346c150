"""A canvas in environment units; it draws large and scales down, so that edges are smooth."""

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont

Colour = tuple[int, int, int]
_SMOOTHING = 3


class Canvas:
    """Draw in units of the environment, x to the right and y downwards."""

    def __init__(
        self,
        *,
        width: float,
        height: float,
        pixels_per_unit: float,
        background: Colour = (255, 255, 255),
    ) -> None:
        self._scale = pixels_per_unit * _SMOOTHING
        self._size = (round(width * pixels_per_unit), round(height * pixels_per_unit))
        big = (self._size[0] * _SMOOTHING, self._size[1] * _SMOOTHING)
        self._image = Image.new("RGB", big, background)
        self._draw = ImageDraw.Draw(self._image)

    def _box(
        self, left: float, top: float, right: float, bottom: float
    ) -> tuple[float, float, float, float]:
        s = self._scale
        return (left * s, top * s, right * s - 1, bottom * s - 1)

    def rectangle(
        self, left: float, top: float, right: float, bottom: float, *, fill: Colour
    ) -> None:
        """A filled box."""
        self._draw.rectangle(self._box(left, top, right, bottom), fill=fill)

    def ellipse(
        self,
        x: float,
        y: float,
        radius_x: float,
        radius_y: float,
        *,
        fill: Colour,
        outline: Colour | None = None,
    ) -> None:
        """An ellipse around (x, y)."""
        box = self._box(x - radius_x, y - radius_y, x + radius_x, y + radius_y)
        self._draw.ellipse(box, fill=fill, outline=outline, width=_SMOOTHING * 2)

    def circle(
        self, x: float, y: float, radius: float, *, fill: Colour, outline: Colour | None = None
    ) -> None:
        """A disc around (x, y)."""
        self.ellipse(x, y, radius, radius, fill=fill, outline=outline)

    def polygon(self, points: list[tuple[float, float]], *, fill: Colour) -> None:
        """A filled polygon."""
        self._draw.polygon([(x * self._scale, y * self._scale) for x, y in points], fill=fill)

    def line(self, points: list[tuple[float, float]], *, fill: Colour, width: float) -> None:
        """A line through points, its width in units."""
        scaled = [(x * self._scale, y * self._scale) for x, y in points]
        self._draw.line(scaled, fill=fill, width=max(1, round(width * self._scale)))

    def text(
        self, x: float, y: float, text: str, *, size: float, fill: Colour, anchor: str = "mm"
    ) -> None:
        """Text anchored at (x, y), `size` units high."""
        font = ImageFont.load_default(size=size * self._scale)
        self._draw.text(
            (x * self._scale, y * self._scale), text, fill=fill, font=font, anchor=anchor
        )

    def pixels(self) -> UInt8[np.ndarray, "height width 3"]:
        """The finished picture."""
        return np.asarray(self._image.resize(self._size, Image.Resampling.LANCZOS))
