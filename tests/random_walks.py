"""Episodes of random walks, for whatever counts transitions."""

import jax
import jax.numpy as jnp
import numpy as np

from pcn.episodes import Episodes


def episodes_of(*arrays, **named):
    """Episodes from arrays on the host."""
    on_device = jax.tree.map(jnp.asarray, (arrays, named))
    return Episodes(*on_device[0], **on_device[1])


def random_walks(rng, *, num_episodes=7, limit=8, num_places=5, fillers=1):
    """Episodes of a random walk on a few places, with rewards that are random numbers."""
    lengths = rng.integers(1, limit, num_episodes)
    lengths[0] = limit  # the longest episode of all
    valid = np.arange(limit) < lengths[:, None]
    places = rng.integers(num_places, size=(num_episodes, limit + 1))
    seen = np.where(valid, places[:, :-1], 0)
    last = places[np.arange(num_episodes), lengths]
    return episodes_of(
        {"place": seen[:, :, None].astype(np.int32)},
        rng.integers([2, 3], size=(num_episodes, limit, 2)).astype(np.int32) * valid[:, :, None],
        (rng.normal(size=(num_episodes, limit, 2)) * valid[:, :, None]).astype(np.float32),
        lengths.astype(np.int32),
        (rng.random(num_episodes) < 0.5) & (lengths < limit),
        real_mask=np.arange(num_episodes) < num_episodes - fillers,
        last_observations={"place": last[:, None].astype(np.int32)},
    )
