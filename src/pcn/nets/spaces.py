"""Choose the state embedding for an observation space."""

from typing import Any, Protocol

import equinox as eqx
import gymnasium as gym
import jax
import numpy as np
from jaxtyping import PRNGKeyArray, PyTree

from pcn.errors import UserError
from pcn.lookup import find_function
from pcn.nets.embeddings import (
    AbstractStateEmbedding,
    OneHotEmbedding,
    OwnEmbedding,
    PictureEmbedding,
    StripEmbedding,
    SumEmbedding,
    VectorEmbedding,
)
from pcn.types import AnyArray

MOST_ROWS = 1024
"""A box of integers is embedded value by value if it has at most this many values in all."""

LOWEST_PICTURE = 16
"""Pictures with fewer rows or columns are too small for convolutions in both directions."""


class MakesEmbedding(Protocol):
    """Makes an embedding for a space; returns None for a space that it does not suit."""

    def __call__(
        self, space: gym.Space[Any], width: int, *, joint_one_hot: bool, key: PRNGKeyArray
    ) -> AbstractStateEmbedding | None:
        """The embedding, or None."""


def embedding_for(
    space: gym.Space[Any], width: int, *, joint_one_hot: bool, key: PRNGKeyArray
) -> AbstractStateEmbedding:
    """The first embedding of `EMBEDDINGS` that suits an observation space."""
    for make in EMBEDDINGS.values():
        embedding = make(space, width, joint_one_hot=joint_one_hot, key=key)
        if embedding is not None:
            return embedding
    raise UserError(f"no state embedding for the observation space {space}")


def _of_parts(
    space: gym.Space[Any], width: int, *, joint_one_hot: bool, key: PRNGKeyArray
) -> SumEmbedding | None:
    if not isinstance(space, gym.spaces.Dict | gym.spaces.Tuple):
        return None
    parts = (
        [space[name] for name in sorted(space)]
        if isinstance(space, gym.spaces.Dict)
        else list(space)
    )
    keys = jax.random.split(key, len(parts))
    return SumEmbedding(
        tuple(
            embedding_for(part, width, joint_one_hot=joint_one_hot, key=part_key)
            for part, part_key in zip(parts, keys, strict=True)
        )
    )


def _of_integers(
    space: gym.Space[Any], width: int, *, joint_one_hot: bool, key: PRNGKeyArray
) -> OneHotEmbedding | None:
    ranges = _integer_ranges(space)
    if ranges is None:
        return None
    starts, sizes = ranges
    return OneHotEmbedding(sizes, width, starts=starts, joint=joint_one_hot, key=key)


def _of_picture(
    space: gym.Space[Any], width: int, *, joint_one_hot: bool, key: PRNGKeyArray
) -> PictureEmbedding | None:
    del joint_one_hot
    shape = _picture_shape(space)
    if shape is None or min(shape[1:]) < LOWEST_PICTURE:
        return None
    return PictureEmbedding(shape, width, key=key)


def _of_strip(
    space: gym.Space[Any], width: int, *, joint_one_hot: bool, key: PRNGKeyArray
) -> StripEmbedding | None:
    del joint_one_hot
    shape = _picture_shape(space)
    if shape is None or shape[1] >= LOWEST_PICTURE or shape[2] <= StripEmbedding.PATCH:
        return None
    return StripEmbedding(shape, width, key=key)


def _of_vector(
    space: gym.Space[Any], width: int, *, joint_one_hot: bool, key: PRNGKeyArray
) -> VectorEmbedding | None:
    del joint_one_hot
    if not isinstance(space, gym.spaces.Box):
        return None
    return VectorEmbedding(int(np.prod(space.shape)), width, key=key)


EMBEDDINGS: dict[str, MakesEmbedding] = {
    "parts": _of_parts,
    "integers": _of_integers,
    "picture": _of_picture,
    "strip": _of_strip,
    "vector": _of_vector,
}
"""Tried in this order. A new embedding is a final subclass of `AbstractStateEmbedding` and a
function here that says which spaces it suits."""


def own_embedding(
    name: str,
    space: gym.Space[Any],
    width: int,
    *,
    example: PyTree[AnyArray],
    key: PRNGKeyArray,
) -> AbstractStateEmbedding:
    """Create the user's embedding, and test it with an example of an observation."""
    make = find_function(name)
    try:
        module = make(space, width, key=key)
    except Exception as error:  # whatever the user's own code raises
        raise UserError(f"{name} cannot be made for {space}: {error}") from error
    if not (isinstance(module, eqx.Module) and callable(module)):
        raise UserError(f"{name} must make an Equinox module that can be called, got {module!r}")
    try:
        made = jax.eval_shape(module, example)
    except Exception as error:  # whatever the user's own code raises
        raise UserError(f"{name} cannot embed an observation of {space}: {error}") from error
    if getattr(made, "shape", None) != (width,):
        raise UserError(f"{name} must embed an observation as {width} numbers, got {made}")
    return OwnEmbedding(module)


def _picture_shape(space: gym.Space[Any]) -> tuple[int, int, int] | None:
    """Channels, height and width; None if the space has no such pictures of bytes."""
    if not isinstance(space, gym.spaces.Box) or space.dtype != np.uint8 or len(space.shape) != 3:
        return None
    channels, height, width = space.shape
    return channels, height, width


def _integer_ranges(space: gym.Space[Any]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Smallest value and number of values of each integer; None if there are no integers."""
    if isinstance(space, gym.spaces.Discrete):
        return (int(space.start),), (int(space.n),)
    if isinstance(space, gym.spaces.MultiDiscrete):
        return (
            tuple(int(start) for start in np.ravel(space.start)),
            tuple(int(n) for n in np.ravel(space.nvec)),
        )
    if isinstance(space, gym.spaces.MultiBinary):
        count = int(np.prod(space.shape))
        return (0,) * count, (2,) * count
    if isinstance(space, gym.spaces.Box) and np.issubdtype(space.dtype, np.integer):
        # As Python's integers: the size of an unbounded range overflows NumPy's.
        low, high = np.ravel(space.low).tolist(), np.ravel(space.high).tolist()
        sizes = [most - least + 1 for least, most in zip(low, high, strict=True)]
        if sum(sizes) <= MOST_ROWS:
            return tuple(low), tuple(sizes)
    return None
