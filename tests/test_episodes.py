import jax.numpy as jnp
import numpy as np
import pytest

from pcn.episodes import Episodes

LENGTHS = np.array([5, 1, 3, 8])


def make_episodes(num_objectives=2, *, lengths=LENGTHS, num_steps=8, seed=0):
    rng = np.random.default_rng(seed)
    valid = np.arange(num_steps) < np.asarray(lengths)[:, None]
    shape = valid.shape
    rewards = rng.normal(size=(*shape, num_objectives)) * valid[:, :, None]
    return Episodes(
        observations={
            "grid": jnp.asarray(rng.integers(1, 9, (*shape, 2)) * valid[:, :, None], jnp.int32),
            "speed": jnp.asarray(rng.normal(size=shape) * valid, jnp.float32),
        },
        actions=jnp.asarray(rng.integers(0, 4, (*shape, 1)) * valid[:, :, None], jnp.int32),
        rewards=jnp.asarray(rewards, jnp.float32),
        lengths=jnp.asarray(lengths, jnp.int32),
        terminated=jnp.asarray(rng.integers(0, 2, len(lengths)), bool),
    )


def slow_returns_to_go(rewards, length, discount):
    """Sum over i >= t of discount^(i - t) r_i, one term after the other."""
    result = np.zeros(rewards.shape)
    for time in range(length):
        for later in range(time, length):
            result[time] += discount ** (later - time) * rewards[later]
    return result


@pytest.mark.parametrize("num_objectives", [2, 3, 9])
@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_returns_to_go_equal_a_slow_sum(num_objectives, discount):
    episodes = make_episodes(num_objectives)
    fast = np.asarray(episodes.returns_to_go(discount=discount))
    rewards = np.asarray(episodes.rewards, np.float64)
    for number, length in enumerate(LENGTHS):
        slow = slow_returns_to_go(rewards[number], length, discount)
        np.testing.assert_allclose(fast[number], slow, atol=1e-5)


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_the_return_is_the_return_to_go_of_the_first_step(discount):
    episodes = make_episodes(3)
    rewards = np.asarray(episodes.rewards, np.float64)
    slow = [
        slow_returns_to_go(rewards[number], length, discount)[0]
        for number, length in enumerate(LENGTHS)
    ]
    np.testing.assert_allclose(episodes.returns(discount=discount), slow, atol=1e-12)


def test_returns_are_summed_in_double_precision():
    num_steps = 1000
    episodes = Episodes(
        observations=jnp.zeros((1, num_steps, 1), jnp.int32),
        actions=jnp.zeros((1, num_steps, 1), jnp.int32),
        rewards=jnp.full((1, num_steps, 1), -0.02, jnp.float32),
        lengths=jnp.array([num_steps], jnp.int32),
        terminated=jnp.array([False]),
    )
    assert episodes.returns().dtype == np.float64
    assert episodes.returns()[0, 0] == pytest.approx(num_steps * float(np.float32(-0.02)), 1e-14)


@pytest.mark.parametrize("discount", [1.0, 0.7])
def test_more_padding_changes_nothing(discount):
    lengths = [1, 6, 3]
    short = make_episodes(lengths=lengths, num_steps=6)
    padding = jnp.zeros((len(lengths), 3, 2))
    padded = Episodes(
        observations=jnp.zeros((len(lengths), 9, 1), jnp.int32),
        actions=jnp.zeros((len(lengths), 9, 1), jnp.int32),
        rewards=jnp.concatenate([short.rewards, padding], axis=1),
        lengths=short.lengths,
        terminated=short.terminated,
    )
    np.testing.assert_allclose(
        padded.returns(discount=discount), short.returns(discount=discount), rtol=1e-12
    )
    np.testing.assert_array_equal(
        padded.returns_to_go(discount=discount)[:, :6], short.returns_to_go(discount=discount)
    )
    assert padded.num_steps == short.num_steps == sum(lengths)


def test_taking_reorders_every_part_alike():
    episodes = make_episodes()
    taken = episodes.taking(np.array([2, 0, 2]))
    assert taken.num_episodes == 3
    assert taken.lengths.tolist() == [3, 5, 3]
    for place, source in enumerate([2, 0, 2]):
        for name in ("actions", "rewards", "terminated"):
            np.testing.assert_array_equal(
                getattr(taken, name)[place], getattr(episodes, name)[source]
            )
        for name in ("grid", "speed"):
            np.testing.assert_array_equal(
                taken.observations[name][place], episodes.observations[name][source]
            )


def test_rows_that_fill_up_a_batch_cost_no_steps():
    episodes = make_episodes()
    whole = Episodes(
        episodes.observations,
        episodes.actions,
        episodes.rewards,
        episodes.lengths,
        episodes.terminated,
        real_mask=jnp.array([True, False, True, False]),
    )
    assert whole.num_steps == 5 + 3
    assert whole.num_episodes == 4
    # A row is real or not wherever it goes.
    assert whole.taking(np.array([3, 2])).num_steps == 3
    assert whole.trimmed(8).num_steps == 5 + 3


def test_all_rows_are_real_and_finished_unless_it_is_said():
    episodes = make_episodes()
    assert episodes.real_mask.tolist() == [True] * 4
    assert episodes.ended.tolist() == [True] * 4


def test_the_valid_mask_is_true_as_long_as_an_episode_lasts():
    mask = np.asarray(make_episodes().valid_mask)
    assert mask.shape == (4, 8)
    for row, length in zip(mask, LENGTHS, strict=True):
        assert row.tolist() == [True] * length + [False] * (8 - length)


def test_trimming_keeps_all_but_the_padding():
    episodes = make_episodes(lengths=[1, 3, 2])
    trimmed = episodes.trimmed(3)
    assert trimmed.rewards.shape[1] == 3
    np.testing.assert_array_equal(trimmed.returns(), episodes.returns())
    np.testing.assert_array_equal(trimmed.lengths, episodes.lengths)
    assert trimmed.observations["grid"].shape[:2] == (3, 3)
