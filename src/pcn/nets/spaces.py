"""Which state embedding suits an observation space."""

from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import PRNGKeyArray

from pcn.errors import UserError
from pcn.nets.embeddings import AbstractStateEmbedding, OneHotEmbedding, VectorEmbedding


def embedding_for(
    space: gym.Space[Any], width: int, *, joint_one_hot: bool, key: PRNGKeyArray
) -> AbstractStateEmbedding:
    """One-hot rows for integers, a linear layer for real vectors."""
    if isinstance(space, gym.spaces.Discrete):
        return OneHotEmbedding((int(space.n),), width, starts=(int(space.start),), key=key)
    if isinstance(space, gym.spaces.MultiDiscrete):
        sizes = tuple(int(n) for n in np.ravel(space.nvec))
        starts = tuple(int(start) for start in np.ravel(space.start))
        return OneHotEmbedding(sizes, width, starts=starts, joint=joint_one_hot, key=key)
    if isinstance(space, gym.spaces.Box):
        return VectorEmbedding(int(np.prod(space.shape)), width, key=key)
    raise UserError(f"no state embedding for the observation space {space}")
