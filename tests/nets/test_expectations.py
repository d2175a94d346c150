"""What is left of a command when what is random is expected."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.nets.embeddings import VectorEmbedding
from pcn.nets.expectations import Expectations
from pcn.nets.heads import CategoricalHead

SEEN, CHOSEN = jnp.array([0.5, -1.0]), jnp.array([1, 2], jnp.int32)


@pytest.fixture(scope="module")
def untrained():
    state_key, key = jax.random.split(jax.random.key(0))
    head = CategoricalHead((2, 3))
    return Expectations(
        VectorEmbedding(2, 8, key=state_key), head, num_objectives=3, width=8, key=key
    )


def with_chance(expectations, rewards, ends, lowest=-100.0, highest=100.0):
    return eqx.tree_at(
        lambda one: (one.random_rewards, one.random_ends, one.lowest, one.highest),
        expectations,
        (jnp.array(rewards), jnp.array(ends), jnp.full(3, lowest), jnp.full(3, highest)),
    )


def test_untrained_expectations_follow_the_rewards(untrained):
    expected = untrained(SEEN, CHOSEN)
    assert expected[-1] == 1.0
    left = untrained.left(
        jnp.array([5.0, 6.0, 7.0]), expected, jnp.array([1.0, 2.0, 3.0]), discount=jnp.array(0.5)
    )
    np.testing.assert_allclose(left, [8.0, 8.0, 8.0])  # (5 - 1) / .5 and so on, as in PCN


def test_random_rewards_are_replaced_and_survivors_have_to_bring_more(untrained):
    some = with_chance(untrained, [True, False, False], True)
    expected, reward = jnp.array([0.25, 9.0, 9.0, 0.8]), jnp.array([1.0, 2.0, 0.0])
    left = some.left(jnp.array([4.25, 6.0, 7.0]), expected, reward, discount=jnp.array(0.5))
    # (4.25 - .25) / (.5 * .8), (6 - 2) / (.5 * .8), (7 - 0) / (.5 * .8)
    np.testing.assert_allclose(left, [10.0, 10.0, 17.5], rtol=1e-6)


def test_what_is_left_stays_within_bounds_and_sure_ends_do_not_divide_by_zero(untrained):
    some = with_chance(untrained, [True, True, True], True, lowest=-3.0, highest=30.0)
    expected = jnp.array([0.0, 0.0, 0.0, 0.0])
    left = some.left(jnp.array([1.0, 2.0, -1.0]), expected, jnp.zeros(3), discount=jnp.array(1.0))
    np.testing.assert_allclose(left, [20.0, 30.0, -3.0])  # 1 / .05, 2 / .05 and -1 / .05 clipped


def test_ends_count_only_where_they_are_random(untrained):
    reward, end = untrained.raw(SEEN, CHOSEN)
    chance = with_chance(untrained, [False] * 3, True)
    np.testing.assert_allclose(chance(SEEN, CHOSEN), [*reward, 1 - end])
    assert untrained(SEEN, CHOSEN)[-1] == 1.0
    assert 0 < end < 1


def test_features_of_an_action_are_one_hot_by_part():
    features = CategoricalHead((2, 3)).features(CHOSEN)
    np.testing.assert_array_equal(features, [0, 1, 0, 0, 1])
