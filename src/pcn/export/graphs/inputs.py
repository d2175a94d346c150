"""The parts of an observation as inputs of a graph."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import jax
import numpy as np

from pcn.export.graphs.graph import BATCH, Graph


@dataclass(frozen=True)
class ObservationPart:
    """One array of an observation: the name of its input, and where it lies in the observation."""

    name: str
    path: tuple[str | int, ...]
    """Keys of Dict and numbers of Tuple spaces that lead to it; empty for an array."""
    kind: np.dtype[Any]
    """The type that networks compute with: never double precision."""
    shape: tuple[int, ...]


def observation_parts(
    space: gym.Space[Any], path: tuple[str | int, ...] = ()
) -> Iterator[ObservationPart]:
    """The arrays that observations of a space are made of, in the order of the embeddings."""
    if isinstance(space, gym.spaces.Dict):
        for key in sorted(space):
            yield from observation_parts(space[key], (*path, key))
    elif isinstance(space, gym.spaces.Tuple):
        for number, part in enumerate(space):
            yield from observation_parts(part, (*path, number))
    else:
        name = ".".join(["observation", *map(str, path)])
        kind = jax.dtypes.canonicalize_dtype(space.dtype)
        yield ObservationPart(name, path, np.dtype(kind), space.shape or ())


def observation_inputs(graph: Graph, space: gym.Space[Any]) -> Any:
    """Declare an input for each part; their names in the structure of the observation."""
    names = iter(
        [
            graph.input(part.name, part.kind, (BATCH, *part.shape))
            for part in observation_parts(space)
        ]
    )

    def structured(space: gym.Space[Any]) -> Any:
        if isinstance(space, gym.spaces.Dict):
            return tuple(structured(space[key]) for key in sorted(space))
        if isinstance(space, gym.spaces.Tuple):
            return tuple(structured(part) for part in space)
        return next(names)

    return structured(space)
