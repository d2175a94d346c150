"""Observations of any Gymnasium space as trees of plain arrays, pictures made small."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import jax
import numpy as np
from jaxtyping import PyTree, UInt8
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
        self._frames: list[UInt8[np.ndarray, "side side"]] = []
        self._frame_stack = frame_stack
        self._read = reader_of(space)
        self._is_picture = is_picture(space)
        self.shown_space = space
        self.space: gym.Space[Any] = space
        if self._is_picture:
            shape = (frame_stack, PICTURE_SIDE, PICTURE_SIDE)
            self.space = gym.spaces.Box(0, 255, shape, np.uint8)

    def first(self, observation: Any) -> Any:
        """The observation that an episode starts with."""
        self._frames = []
        return self.next(observation)

    def next(self, observation: Any) -> Any:
        """A later observation."""
        if not self._is_picture:
            return self._read(observation)
        frame = small_picture(np.asarray(observation))
        self._frames = [*(self._frames or [frame] * self._frame_stack), frame][-self._frame_stack :]
        return np.stack(self._frames)


def reader_of(space: gym.Space[Any]) -> Callable[[Any], Any]:
    """How `as_arrays` reads one space; looking at a space again at every step takes its time."""
    if isinstance(space, gym.spaces.Dict):
        named = {name: reader_of(part) for name, part in space.items()}
        return lambda observation: {name: read(observation[name]) for name, read in named.items()}
    if isinstance(space, gym.spaces.Tuple):
        parts = [reader_of(part) for part in space]
        return lambda observation: tuple(
            read(part) for read, part in zip(parts, observation, strict=True)
        )
    kind, shape = space.dtype, space.shape or ()

    def read(observation: Any) -> np.ndarray:
        array = np.asarray(observation, kind)
        return array if array.shape == shape else array.reshape(shape)

    return read


def as_arrays(space: gym.Space[Any], observation: Any) -> Any:
    """An observation as arrays of the space's own types, whatever sequence it came in."""
    return reader_of(space)(observation)


def empty_observations(space: gym.Space[Any], shape: tuple[int, ...]) -> PyTree[np.ndarray]:
    """Zeros in the shape of many observations, in the types that the device computes with."""
    example = as_arrays(space, space.sample())
    return jax.tree.map(
        # Double precision is not stored: the device computes in single.
        lambda leaf: np.zeros((*shape, *leaf.shape), jax.dtypes.canonicalize_dtype(leaf.dtype)),
        example,
    )
