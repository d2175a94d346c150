"""Pictures of an episode for the page: few enough, small enough, as PNG in data URLs."""

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

MOST_FRAMES = 120
"""Pictures of one episode while it is watched live."""
LONGEST_SIDE = 320
"""Pixels."""
COLOURS = 48


@dataclass(frozen=True)
class FilmSize:
    """How much the pictures of one episode may take."""

    most_frames: int = MOST_FRAMES
    most_bytes: int = 1_500_000
    """All pictures together."""


LIVE_FILM = FilmSize()
"""The film of a rollout that is shown live."""


class Film:
    """Takes pictures while an episode goes on; of a long one only every n-th step.

    An environment that cannot draw itself leaves the film empty, and `problem` says why.

    Args:
        render: Draws the environment as it is now.
        problem: Why it cannot, where that is known already.
        most_frames: With more pictures than this, every second one is dropped, and only every
            second step is drawn from then on.
    """

    def __init__(
        self,
        render: Callable[[], Any],
        problem: str | None = None,
        *,
        most_frames: int = MOST_FRAMES,
    ) -> None:
        self._render = render
        self._most_frames = most_frames
        self._stride = 1
        self._frames: dict[int, bytes] = {}
        self.problem = problem

    def shoot(self, step: int, *, last: bool = False) -> None:
        """Take the picture after `step` steps, if it is its turn or the last one."""
        if self.problem is not None or step in self._frames or (step % self._stride and not last):
            return
        try:
            self._frames[step] = encoded(self._render())
        except Exception as error:  # whatever the environment's own drawing raises
            self.problem = f"There is no picture: {error}"
            self._frames = {}
            return
        if len(self._frames) > self._most_frames and not last:
            self._stride *= 2
            self._frames = {
                at: frame for at, frame in self._frames.items() if at % self._stride == 0
            }

    def developed(self, most_bytes: int) -> tuple[list[int], list[str]] | None:
        """Which steps have pictures, and the pictures; thinned out to a size. None without any."""
        if not self._frames:
            return None
        steps = np.array(list(self._frames))
        sizes = [len(frame) for frame in self._frames.values()]
        most = max(2, int(most_bytes / np.mean(sizes)))
        # The first and the last picture stay, and those between them are evenly spaced.
        if len(steps) > most:
            steps = steps[np.linspace(0, len(steps) - 1, most).round().astype(int)]
        return steps.tolist(), [data_url(self._frames[step]) for step in steps.tolist()]


def encoded(picture: Any) -> bytes:
    """A picture as a small PNG: at most `LONGEST_SIDE` pixels, in a palette."""
    pixels = np.asarray(picture)
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        raise ValueError("the environment draws no pictures of red, green and blue bytes")
    image = Image.fromarray(pixels)
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    # Octrees keep smooth edges in fewer bytes than the median cut, and take half the time.
    few = image.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def data_url(png: bytes) -> str:
    """The picture as an address that holds its content."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
