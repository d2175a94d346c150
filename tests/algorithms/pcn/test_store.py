import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.pcn.store import Drawing, TransitionStore
from pcn.envs.observations import empty_observations
from pcn.errors import UserError

PLACES = eqx.filter_jit(TransitionStore.places)


def test_a_dataset_that_needs_more_memory_than_there_is_is_refused(coin, monkeypatch):
    step_bytes = 4 * 3 + sum(leaf.nbytes for leaf in jax.tree.leaves(seen_by(coin)))
    needed = 100 * coin.spec.step_limit * step_bytes
    monkeypatch.setattr("pcn.memory.available_bytes", lambda: needed)
    TransitionStore.empty(coin.spec, 100)
    monkeypatch.setattr("pcn.memory.available_bytes", lambda: needed - 1)
    with pytest.raises(UserError, match=r"a dataset of 100 episodes .* lower --step-limit"):
        TransitionStore.empty(coin.spec, 100)


def seen_by(environment):
    return empty_observations(environment.spec.observation_space, ())


def store_with_lengths(lengths):
    num_slots = len(lengths)
    return TransitionStore(
        observations=jnp.zeros((num_slots, 10, 1), jnp.int32),
        actions=jnp.zeros((num_slots, 10, 1), jnp.int32),
        returns_to_go=jnp.zeros((num_slots, 10, 2)),
        lengths=jnp.asarray(lengths, jnp.int32),
        action_masks=None,
    )


def draw(store, drawings, counts, num_updates=4_000):
    draws = jax.random.uniform(jax.random.key(0), (2, num_updates, sum(counts)))
    slots, times = PLACES(store, drawings, counts, draws)
    return np.asarray(slots), np.asarray(times)


def test_drawing_by_length_gives_every_step_the_same_chance():
    lengths = np.array([9, 1, 3, 7])
    store = store_with_lengths(lengths)
    used = np.array([0, 1, 3])  # the third episode is left out
    drawing = Drawing.over(used.astype(np.int32), lengths[used], capacity=6)
    slots, times = draw(store, (drawing,), (8,))
    assert set(slots.ravel().tolist()) == {0, 1, 3}
    shares = np.zeros((4, 10))
    np.add.at(shares, (slots.ravel(), times.ravel()), 1 / slots.size)
    for slot in used:
        # 17 steps; a share of 1 / 17 among 32,000 draws has a deviation of .0013.
        np.testing.assert_allclose(shares[slot, : lengths[slot]], 1 / 17, atol=0.006)
        assert not shares[slot, lengths[slot] :].any()


def test_equal_weights_give_every_episode_the_same_chance():
    lengths = np.array([9, 1, 3, 7])
    drawing = Drawing.over(np.arange(4, dtype=np.int32), np.ones(4, np.int64), capacity=4)
    slots, times = draw(store_with_lengths(lengths), (drawing,), (8,))
    shares = np.bincount(slots.ravel(), minlength=4) / slots.size
    np.testing.assert_allclose(shares, 1 / 4, atol=0.02)
    assert np.all(times < lengths[slots])


def test_parts_of_a_batch_come_from_their_own_drawing():
    store = store_with_lengths([5, 5, 5, 5])
    one = Drawing.over(np.array([0, 1], np.int32), np.array([1, 1]), capacity=4)
    two = Drawing.over(np.array([3], np.int32), np.array([1]), capacity=4)
    slots, _ = draw(store, (one, two), (5, 3), num_updates=50)
    assert slots.shape == (50, 8)
    assert set(slots[:, :5].ravel().tolist()) == {0, 1}
    assert set(slots[:, 5:].ravel().tolist()) == {3}


@pytest.mark.parametrize("extreme", [0.0, np.float32(1) - np.float32(2) ** -24])
def test_the_smallest_and_largest_draws_stay_within_the_episodes(extreme):
    lengths = [10, 3, 7]
    drawing = Drawing.over(np.array([2, 1], np.int32), np.array([7, 3]), capacity=5)
    draws = jnp.full((2, 1, 4), extreme, jnp.float32)
    slots, times = PLACES(store_with_lengths(lengths), (drawing,), (4,), draws)
    expected = (2, 0) if extreme == 0 else (1, 2)
    assert set(zip(slots[0].tolist(), times[0].tolist(), strict=True)) == {expected}


def test_a_draw_on_the_border_belongs_to_the_later_episode():
    drawing = Drawing.over(np.array([2, 1], np.int32), np.array([1, 1]), capacity=5)
    draws = jnp.full((2, 1, 4), 0.5, jnp.float32)
    slots, _ = PLACES(store_with_lengths([10, 3, 7]), (drawing,), (4,), draws)
    assert set(slots[0].tolist()) == {1}
