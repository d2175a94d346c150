import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.nets.heads import CategoricalHead, action_head_for

TWO = CategoricalHead((2, 3))


@pytest.mark.parametrize(
    ("space", "sizes"),
    [
        (gym.spaces.Discrete(4), (4,)),
        (gym.spaces.MultiDiscrete([2, 3]), (2, 3)),
        (gym.spaces.MultiDiscrete([[2, 3], [4, 5]]), (2, 3, 4, 5)),
        (gym.spaces.MultiBinary(3), (2, 2, 2)),
    ],
)
def test_every_discrete_space_has_its_head(space, sizes):
    head = action_head_for(space)
    assert head.sizes == sizes
    assert head.num_outputs == sum(sizes)


def test_spaces_without_a_head_are_refused_by_name():
    with pytest.raises(ValueError, match=r"needs actions that are Discrete.*Text\("):
        action_head_for(gym.spaces.Text(2))


def test_each_option_has_its_share_of_its_part():
    # exp of the logits: (1, 3) and (2, 2, 4); sums 4 and 8.
    first, second = TWO.option_probabilities(jnp.log(jnp.array([1.0, 3.0, 2.0, 2.0, 4.0])))
    np.testing.assert_allclose(first, [1 / 4, 3 / 4], rtol=1e-6)
    np.testing.assert_allclose(second, [2 / 8, 2 / 8, 4 / 8], rtol=1e-6)


def test_the_probability_of_an_action_is_the_product_of_its_parts():
    # exp of the logits: (1, 3) and (2, 2, 4); sums 4 and 8.
    logits = jnp.log(jnp.array([1.0, 3.0, 2.0, 2.0, 4.0]))
    for first, p in enumerate([1 / 4, 3 / 4]):
        for second, q in enumerate([2 / 8, 2 / 8, 4 / 8]):
            log_probability = TWO.log_probability(logits, jnp.array([first, second]))
            assert log_probability == pytest.approx(np.log(p * q), abs=1e-6)


def test_actions_are_sampled_as_often_as_the_softmax_says():
    logits = jnp.log(jnp.array([1.0, 3.0, 2.0, 2.0, 4.0]))
    keys = jax.random.split(jax.random.key(0), 20_000)
    actions = np.asarray(jax.vmap(lambda key: TWO.sampled(logits, TWO.noise(key)))(keys))
    for first, p in enumerate([1 / 4, 3 / 4]):
        for second, q in enumerate([2 / 8, 2 / 8, 4 / 8]):
            share = np.mean(np.all(actions == [first, second], axis=1))
            # The deviation of a share is at most .0035; parts of an action are independent.
            assert share == pytest.approx(p * q, abs=0.015)


def test_the_greedy_action_is_the_first_of_the_largest():
    assert TWO.greedy(jnp.array([1.0, 1.0, 0.0, 2.0, 2.0])).tolist() == [0, 1]
    assert TWO.greedy(jnp.array([0.0, 1.0, 0.0, 0.0, 0.5])).tolist() == [1, 2]


def test_masked_actions_are_never_chosen():
    logits = jnp.array([0.0, 50.0, 3.0, 2.0, 1.0])
    mask = jnp.array([True, False, False, True, True])
    masked = TWO.masked(logits, mask)
    assert TWO.greedy(masked).tolist() == [0, 1]
    keys = jax.random.split(jax.random.key(1), 5_000)
    actions = np.asarray(jax.vmap(lambda key: TWO.sampled(masked, TWO.noise(key)))(keys))
    assert set(actions[:, 0].tolist()) == {0}
    assert set(actions[:, 1].tolist()) == {1, 2}
    allowed = TWO.log_probability(masked, jnp.array([0, 1]))
    assert allowed == pytest.approx(-np.log(1 + np.exp(-1)), abs=1e-6)


def test_no_mask_leaves_the_logits_alone():
    logits = jnp.array([0.0, 50.0, 3.0, 2.0, 1.0])
    assert TWO.masked(logits, None) is logits
