import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.nets.embeddings import (
    OneHotEmbedding,
    PictureEmbedding,
    StripEmbedding,
    VectorEmbedding,
)
from pcn.nets.spaces import EMBEDDINGS, embedding_for

SPACES = {
    "Discrete": (gym.spaces.Discrete(5), OneHotEmbedding),
    "MultiDiscrete": (gym.spaces.MultiDiscrete([3, 4], dtype=np.int32), OneHotEmbedding),
    "MultiDiscrete, two-dimensional": (
        gym.spaces.MultiDiscrete([[3, 4], [2, 2]], dtype=np.int32),
        OneHotEmbedding,
    ),
    "Box": (gym.spaces.Box(-1, 1, (7,)), VectorEmbedding),
    "Box of integers": (gym.spaces.Box(0, 255, (2, 3), np.uint8), VectorEmbedding),
    "Box of any integers": (gym.spaces.Box(-np.inf, np.inf, (2,), np.int64), VectorEmbedding),
    "Box of large integers": (gym.spaces.Box(0, 2**64 - 1, (2,), np.uint64), VectorEmbedding),
    "picture": (gym.spaces.Box(0, 255, (2, 40, 40), np.uint8), PictureEmbedding),
    "low picture": (gym.spaces.Box(0, 255, (3, 6, 22), np.uint8), StripEmbedding),
    "narrow picture": (gym.spaces.Box(0, 255, (3, 20, 10), np.uint8), VectorEmbedding),
    "tiny picture": (gym.spaces.Box(0, 255, (3, 6, 2), np.uint8), VectorEmbedding),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("joint_one_hot", [False, True])
def test_the_embedding_takes_what_the_space_gives(name, joint_one_hot):
    space, kind = SPACES[name]
    embed = embedding_for(space, 6, joint_one_hot=joint_one_hot, key=jax.random.key(0))
    assert isinstance(embed, kind)
    space.seed(0)
    embedded = embed(jnp.asarray(np.asarray(space.sample()).astype(_narrow(space.dtype))))
    assert embedded.shape == (6,)
    assert np.isfinite(embedded).all()


def _narrow(dtype):
    """JAX has 32 bits."""
    return {np.dtype(np.int64): np.int32, np.dtype(np.float64): np.float32}.get(dtype, dtype)


def test_integers_that_do_not_start_at_zero_are_told_apart():
    space = gym.spaces.Discrete(3, start=5)
    embed = embedding_for(space, 6, joint_one_hot=False, key=jax.random.key(0))
    seen = {np.asarray(embed(jnp.int32(value))).tobytes() for value in (5, 6, 7)}
    assert len(seen) == 3


def test_other_spaces_are_refused_by_name():
    with pytest.raises(ValueError, match=r"Text\("):
        embedding_for(gym.spaces.Text(3), 6, joint_one_hot=False, key=jax.random.key(0))


@pytest.mark.slow
@pytest.mark.parametrize("name", EMBEDDINGS)
def test_every_embedding_of_the_table_suits_some_space_and_embeds_it(name):
    spaces = [space for space, _ in SPACES.values()]
    spaces.append(gym.spaces.Tuple(spaces[:2]))
    made = (
        (space, EMBEDDINGS[name](space, 6, joint_one_hot=False, key=jax.random.key(0)))
        for space in spaces
    )
    space, embed = next((space, embed) for space, embed in made if embed is not None)
    space.seed(0)
    example = jax.tree.map(lambda leaf: jnp.asarray(leaf), space.sample())

    def total(embed):
        return embed(example).sum()

    layers = eqx.filter_grad(total)(embed).last_layers()
    assert all(np.any(layer.weight) for layer in layers)
