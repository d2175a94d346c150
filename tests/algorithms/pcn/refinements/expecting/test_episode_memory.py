"""Remembered episodes are those that were run, in bounded room."""

import jax.numpy as jnp
import numpy as np

from pcn.algorithms.pcn.refinements.expecting.episode_memory import EpisodeMemory
from pcn.episodes import Episodes

EXAMPLE = {"place": np.zeros(2, np.float32), "time": np.zeros((), np.int32)}


def batch(lengths, *, first=0, real=None):
    """Episodes whose observations, actions and rewards are numbered, step by step."""
    shape = (len(lengths), max(lengths))
    valid = np.arange(shape[1]) < np.array(lengths)[:, None]
    number = np.where(valid, first + np.arange(valid.size).reshape(shape), 0)
    return Episodes(
        {
            "place": jnp.asarray(np.stack([number, -number], -1), jnp.float32),
            "time": jnp.asarray(number),
        },
        jnp.asarray(number[..., None]),
        jnp.asarray(number[..., None], jnp.float32),
        jnp.asarray(lengths),
        jnp.asarray([length % 2 == 0 for length in lengths]),
        real_mask=None if real is None else jnp.asarray(real),
    )


def test_steps_of_real_episodes_lie_one_after_the_other():
    memory = EpisodeMemory(EXAMPLE, 100)
    memory.add(batch([2, 3, 1], real=[True, True, False]))
    memory.add(batch([1], first=50))
    steps = memory.steps
    np.testing.assert_array_equal(steps.lengths, [2, 3, 1])
    np.testing.assert_array_equal(steps.starts, [0, 2, 5])
    np.testing.assert_array_equal(steps.actions[:, 0], [0, 1, 3, 4, 5, 50])
    np.testing.assert_array_equal(steps.terminated, [True, False, False])
    seen = memory.observations(steps)
    np.testing.assert_array_equal(seen["time"], [0, 1, 3, 4, 5, 50])
    np.testing.assert_array_equal(seen["place"][:, 1], [0, -1, -3, -4, -5, -50])


def test_the_oldest_batches_are_forgotten_once_the_others_fill_the_room():
    memory = EpisodeMemory(EXAMPLE, 5)
    for number in range(4):
        memory.add(batch([3], first=10 * number))
    assert memory.num_steps == 6  # three would be too few, so two batches stay
    np.testing.assert_array_equal(memory.steps.actions[:, 0], [20, 21, 22, 30, 31, 32])


def test_a_closed_memory_takes_in_nothing():
    memory = EpisodeMemory(EXAMPLE, 5)
    memory.add(batch([2]))
    memory.open = False
    memory.add(batch([1]))
    assert memory.num_steps == 2


def test_a_memory_survives_a_checkpoint():
    memory, again = EpisodeMemory(EXAMPLE, 50), EpisodeMemory(EXAMPLE, 50)
    again.from_arrays(memory.to_arrays())
    assert again.num_steps == 0
    memory.add(batch([2, 3]))
    memory.add(batch([4]))
    memory.num_rounds = 2
    again.from_arrays(memory.to_arrays())
    assert (again.num_rounds, again.open) == (2, True)
    for one, other in zip(memory.steps.observations, again.steps.observations, strict=True):
        np.testing.assert_array_equal(one, other)
    for name in ("actions", "rewards", "action_masks", "lengths", "terminated", "broken_off"):
        np.testing.assert_array_equal(getattr(memory.steps, name), getattr(again.steps, name))
