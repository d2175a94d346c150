"""Observations of any Gymnasium space as trees of plain arrays; pictures are reduced."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import jax
import numpy as np
from jaxtyping import Num, PyTree, UInt8
from PIL import Image

from pcn.envs.spec import EnvironmentSpec

PICTURE_SIDE = 40
"""Pictures are reduced to this many pixels in width and height, in shades of grey."""
SMALLEST_PICTURE = 16
"""A box of bytes at least this wide and high is a picture."""


def is_picture(space: gym.Space[Any]) -> bool:
    """Whether a space holds pictures: height, width and perhaps 1, 3 or 4 colours.

    They are bytes, or other numbers between 0 and 1 or between 0 and 255. Stacks of other depths
    are arrays like all others.
    """
    if (
        not isinstance(space, gym.spaces.Box)
        or len(space.shape) not in (2, 3)
        or min(space.shape[:2]) < SMALLEST_PICTURE
        or space.shape[2:] not in ((), (1,), (3,), (4,))
    ):
        return False
    if space.dtype == np.uint8:
        return True
    return bool(np.all(space.low == 0) and _brightest(space) is not None)


def _brightest(space: gym.spaces.Box) -> float | None:
    """The value of white in a space of pictures: 1 or 255, everywhere."""
    return next((white for white in (1.0, 255.0) if np.all(space.high == white)), None)


def as_bytes(space: gym.Space[Any], picture: Num[np.ndarray, "..."]) -> UInt8[np.ndarray, "..."]:
    """The picture of a space as bytes."""
    factor = picture_factor(space)
    if picture.dtype == np.uint8 and factor == 1:
        return picture
    return np.clip(np.rint(picture * factor), 0, 255).astype(np.uint8)


def picture_factor(space: gym.Space[Any]) -> float:
    """The factor that makes white 255 in a space of pictures.

    >>> [picture_factor(gym.spaces.Box(0, high, (20, 20), np.uint8)) for high in (1, 255)]
    [255.0, 1.0]
    """
    white = _brightest(space) if isinstance(space, gym.spaces.Box) else None
    return 255.0 / (white or 255.0)


def small_picture(picture: UInt8[np.ndarray, "..."]) -> UInt8[np.ndarray, "side side"]:
    """The picture in shades of grey, 40 pixels wide and high."""
    image = Image.fromarray(np.squeeze(picture)).convert("L")
    return np.asarray(image.resize((PICTURE_SIDE, PICTURE_SIDE), Image.Resampling.BOX))


class ObservationReader:
    """Reads the observations of one environment, one after the other.

    With a `frame_stack`, pictures are reduced, and a policy sees that many of the last ones.
    Without one, pictures are arrays like all others.
    """

    def __init__(self, space: gym.Space[Any], *, frame_stack: int | None = None) -> None:
        self._frames: list[UInt8[np.ndarray, "side side"]] = []
        self._frame_stack = frame_stack or 1
        self._read = array_reader(space)
        self._is_picture = frame_stack is not None and is_picture(space)
        self.shown_space = space
        """The environment's observation space."""
        self.space: gym.Space[Any] = space
        """The policy's observation space."""
        if self._is_picture:
            shape = (self._frame_stack, PICTURE_SIDE, PICTURE_SIDE)
            self.space = gym.spaces.Box(0, 255, shape, np.uint8)

    def first(self, observation: Any) -> Any:
        """The observation that an episode starts with."""
        self._frames = []
        return self.next(observation)

    def next(self, observation: Any) -> Any:
        """A later observation; a `TypeError` or `ValueError` if it cannot be read."""
        if not self._is_picture:
            return self._read(observation)
        picture = np.asarray(observation)
        if picture.shape != self.shown_space.shape or not np.isfinite(picture).all():
            raise ValueError(f"a picture of shape {picture.shape}, or not of finite numbers")
        frame = small_picture(as_bytes(self.shown_space, picture))
        self._frames = [*(self._frames or [frame] * self._frame_stack), frame][-self._frame_stack :]
        return np.stack(self._frames)


def reader_for(spec: EnvironmentSpec) -> ObservationReader:
    """A reader for the observations of an environment; the spec is all that it needs."""
    if spec.shown_space is None:
        return ObservationReader(spec.observation_space)
    return ObservationReader(spec.shown_space, frame_stack=spec.frame_stack)


def array_reader(space: gym.Space[Any]) -> Callable[[Any], Any]:
    """A function that turns observations of a space into arrays with the types of the space.

    It raises a `TypeError` or a `ValueError` where an observation is none of numbers or none of the
    choices.
    """
    if isinstance(space, gym.spaces.Dict):
        named = {name: array_reader(part) for name, part in space.items()}
        return lambda observation: {name: read(observation[name]) for name, read in named.items()}
    if isinstance(space, gym.spaces.Tuple):
        parts = [array_reader(part) for part in space]
        return lambda observation: tuple(
            read(part) for read, part in zip(parts, observation, strict=True)
        )
    kind, shape, bounds = space.dtype, space.shape or (), _bounds(space)
    has_flags = isinstance(space, gym.spaces.MultiBinary)

    def read(observation: Any) -> np.ndarray:
        given = np.asarray(observation)
        if given.dtype.kind not in "fiub":  # NumPy would make numbers of words, None and 1j
            raise TypeError(f"an observation of {given.dtype}")
        if has_flags:
            given = _flags(given)
        array = np.array(given, kind)  # a copy: some environments change one array in place
        if bounds is not None and ((array < bounds[0]) | (array > bounds[1])).any():
            raise ValueError(f"{given} is not in {space}")
        return array if array.shape == shape else array.reshape(shape)

    return read


def _bounds(space: gym.Space[Any]) -> tuple[Any, Any] | None:
    """The least and the largest value of a space of choices, beyond which there is no such choice.

    Boxes have none: many published environments leave theirs.
    """
    if not isinstance(space, gym.spaces.Discrete | gym.spaces.MultiDiscrete):
        return None
    count = space.n if isinstance(space, gym.spaces.Discrete) else space.nvec
    return space.start, space.start + count - 1


def _flags(given: Num[np.ndarray, "..."]) -> Num[np.ndarray, "..."]:
    """Flags of a space of zeros and ones: what is more than one counts as one.

    Some published environments count there, such as the dropped bottles of breakable-bottles-v0.
    """
    if not np.isfinite(given).all():
        raise ValueError(f"{given} is not finite")
    return np.clip(given, 0, 1)


def empty_observations(space: gym.Space[Any], shape: tuple[int, ...]) -> PyTree[np.ndarray]:
    """Arrays of zeros for `shape` many observations, in the types that JAX computes with."""
    example = array_reader(space)(space.sample())
    return jax.tree.map(
        # JAX computes in single precision, so nothing is stored in double precision.
        lambda leaf: np.zeros((*shape, *leaf.shape), jax.dtypes.canonicalize_dtype(leaf.dtype)),
        example,
    )


def num_parts(spec: EnvironmentSpec) -> int:
    """How many numbers an observation has."""
    return sum(
        leaf.size for leaf in jax.tree.leaves(empty_observations(spec.observation_space, ()))
    )


def whole_numbers(spec: EnvironmentSpec) -> bool:
    """Whether an observation consists of whole numbers; others hardly ever repeat."""
    leaves = jax.tree.leaves(empty_observations(spec.observation_space, ()))
    return all(np.issubdtype(leaf.dtype, np.integer) or leaf.dtype == bool for leaf in leaves)


def from_flat(
    space: gym.Space[Any], numbers: Num[np.ndarray, "observation number"]
) -> PyTree[np.ndarray]:
    """Restore observations of a space from the rows of `pcn.episodes.flat`."""
    leaves, tree = jax.tree.flatten(empty_observations(space, ()))
    ends = np.cumsum([leaf.size for leaf in leaves])[:-1]
    parts = np.split(numbers, ends, axis=1)
    return jax.tree.unflatten(
        tree,
        [
            part.reshape(-1, *leaf.shape).astype(leaf.dtype)
            for part, leaf in zip(parts, leaves, strict=True)
        ],
    )
