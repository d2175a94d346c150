"""Observations of any Gymnasium space as trees of plain arrays, pictures made small."""

from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import UInt8
from PIL import Image

PICTURE_SIDE = 40
"""Pictures are reduced to this many pixels in width and height, in shades of grey."""
SMALLEST_PICTURE = 16
"""A box of bytes at least this wide and high is a picture."""


def is_picture(space: gym.Space[Any]) -> bool:
    """Whether a space holds pictures: height, width and perhaps colours, as bytes."""
    return (
        isinstance(space, gym.spaces.Box)
        and space.dtype == np.uint8
        and len(space.shape) in (2, 3)
        and min(space.shape[:2]) >= SMALLEST_PICTURE
    )


def small_picture(picture: UInt8[np.ndarray, "..."]) -> UInt8[np.ndarray, "side side"]:
    """The picture in grey, 40 pixels wide and high."""
    image = Image.fromarray(np.squeeze(picture)).convert("L")
    return np.asarray(image.resize((PICTURE_SIDE, PICTURE_SIDE), Image.Resampling.BOX))


class ObservationReader:
    """Reads the observations of one environment; remembers the last pictures."""

    def __init__(self, space: gym.Space[Any], *, frame_stack: int = 2) -> None:
        self._original = space
        self._frames: list[UInt8[np.ndarray, "side side"]] = []
        self._frame_stack = frame_stack
        self.space: gym.Space[Any] = space
        if is_picture(space):
            shape = (frame_stack, PICTURE_SIDE, PICTURE_SIDE)
            self.space = gym.spaces.Box(0, 255, shape, np.uint8)

    def first(self, observation: Any) -> Any:
        """The observation that an episode starts with."""
        self._frames = []
        return self.next(observation)

    def next(self, observation: Any) -> Any:
        """A later observation."""
        if not is_picture(self._original):
            return as_arrays(self._original, observation)
        frame = small_picture(np.asarray(observation))
        self._frames = [*(self._frames or [frame] * self._frame_stack), frame][-self._frame_stack :]
        return np.stack(self._frames)


def as_arrays(space: gym.Space[Any], observation: Any) -> Any:
    """An observation as arrays of the space's own types, whatever sequence it came in."""
    if isinstance(space, gym.spaces.Dict):
        return {name: as_arrays(part, observation[name]) for name, part in space.items()}
    if isinstance(space, gym.spaces.Tuple):
        return tuple(as_arrays(part, o) for part, o in zip(space, observation, strict=True))
    return np.asarray(observation, dtype=space.dtype).reshape(space.shape)
