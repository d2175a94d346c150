"""Observations in a row of numbers, and back."""

import gymnasium as gym
import jax
import numpy as np
import pytest

from pcn.envs.observations import empty_observations, from_flat
from pcn.episodes import flat

SPACES = [
    gym.spaces.Box(-9, 9, (3,), np.float32),
    gym.spaces.Box(-9, 9, (2, 3), np.float32),
    gym.spaces.MultiDiscrete([5, 7]),
    gym.spaces.Dict({"b": gym.spaces.Discrete(4), "a": gym.spaces.Box(0, 1, (2, 2), np.float32)}),
    gym.spaces.Tuple((gym.spaces.MultiBinary(3), gym.spaces.Box(0, 9, (), np.float32))),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_observations_come_back_from_a_row_of_numbers(space):
    rng = np.random.default_rng(0)
    observations = jax.tree.map(
        lambda leaf: rng.integers(0, 2, leaf.shape).astype(leaf.dtype),
        empty_observations(space, (6,)),
    )
    numbers = flat(observations, 1)
    assert len(numbers) == 6
    assert numbers.ndim == 2
    again = from_flat(space, numbers.astype(np.float32))
    assert jax.tree.structure(again) == jax.tree.structure(observations)
    for one, other in zip(jax.tree.leaves(again), jax.tree.leaves(observations), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
