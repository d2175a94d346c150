import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.nets.embeddings import OneHotEmbedding, StripEmbedding, VectorEmbedding

KEY = jax.random.key(0)


def test_integers_add_up_one_row_each():
    embed = OneHotEmbedding((3, 4), 5, key=KEY)
    weight, bias = np.asarray(embed.linear.weight), np.asarray(embed.linear.bias)
    assert weight.shape == (5, 7)
    expected = weight[:, 2] + weight[:, 3 + 1] + bias  # value 2 of the first, 1 of the second
    np.testing.assert_allclose(embed(jnp.array([2, 1])), expected, atol=1e-6)


def test_a_joint_table_has_a_row_of_its_own_for_every_combination():
    embed = OneHotEmbedding((3, 4), 5, joint=True, key=KEY)
    weight, bias = np.asarray(embed.linear.weight), np.asarray(embed.linear.bias)
    assert weight.shape == (5, 12)
    rows = set()
    for first in range(3):
        for second in range(4):
            row = np.asarray(embed(jnp.array([first, second]))) - bias
            matching = np.flatnonzero(np.all(np.abs(weight - row[:, None]) < 1e-6, axis=0))
            assert len(matching) == 1
            rows.add(int(matching[0]))
    assert rows == set(range(12))


def test_a_single_integer_needs_no_vector_around_it():
    embed = OneHotEmbedding((3,), 5, key=KEY)
    np.testing.assert_array_equal(embed(jnp.int32(2)), embed(jnp.array([2])))


@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_real_numbers_are_standardised(shape):
    embed = VectorEmbedding(6, 5, key=KEY)
    embed = eqx.tree_at(
        lambda e: (e.mean, e.deviation), embed, (jnp.full(6, 2.0), jnp.full(6, 4.0))
    )
    values = np.arange(6.0, dtype=np.float32)
    expected = np.asarray(embed.linear.weight) @ ((values - 2) / 4) + np.asarray(embed.linear.bias)
    np.testing.assert_allclose(embed(jnp.asarray(values.reshape(shape))), expected, atol=1e-6)


def test_numbers_in_small_units_are_no_constants():
    embed = VectorEmbedding(3, 4, key=KEY)
    seen = np.array([[1e-9, 5.0, 1e6], [3e-9, 5.0, 1e6 + 2]])
    np.testing.assert_allclose(embed.fitted(seen).deviation, [1e-9, 1.0, 1.0], rtol=1e-5)
    np.testing.assert_allclose(embed.fitted(seen[:1]).deviation, 1.0)


def test_mean_and_deviation_are_not_trained():
    embed = VectorEmbedding(3, 4, key=KEY)
    gradient = eqx.filter_grad(lambda e: jnp.sum(e(jnp.array([1.0, 2.0, 3.0])) ** 2))(embed)
    assert not gradient.mean.any()
    assert not gradient.deviation.any()
    assert gradient.linear.weight.any()
    assert gradient.linear.bias.any()


@pytest.mark.slow
def test_a_strip_is_convolved_row_by_row():
    embed = StripEmbedding((3, 2, 10), 5, key=KEY)
    first, second = embed.layers
    observation = np.random.default_rng(0).integers(256, size=(3, 2, 10)).astype(np.uint8)
    padded = np.zeros((3, 2, 12))
    padded[:, :, :10] = observation / 255
    seen = []
    for row in range(2):
        # Kernels [channel out, channel in, cell], the first moved on by 4 cells, the second by 1.
        steps = [first(jnp.asarray(padded[:, row, at : at + 4].ravel())) for at in (0, 4, 8)]
        steps = [np.maximum(step, 0) for step in steps]
        seen += [np.maximum(second(np.append(*steps[at : at + 2])), 0) for at in (0, 1)]
    expected = embed.linear(np.concatenate(seen))
    np.testing.assert_allclose(embed(jnp.asarray(observation)), expected, atol=1e-5)
