"""A value network in other units expects the same returns, and its weights count other extents."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pcn.nets.value_network import ValueNetwork

UNIT = np.array([2.0, 50.0], np.float32)
SEEN, WEIGHTS = np.array([0.3, -1.0, 2.0], np.float32), np.array([0.25, 0.75], np.float32)


def network(sizes=(4,), normalises=False, masked=False):
    zeros, key = np.zeros(3 + masked * sum(sizes), np.float32), jax.random.PRNGKey(0)
    options = {"sizes": sizes, "normalises": normalises, "masked": masked}
    return ValueNetwork(zeros, zeros + 1, UNIT, width=8, key=key, **options)


def said(network):
    return np.asarray(network(SEEN, WEIGHTS))


def test_expected_returns_are_the_same_in_other_units():
    old = network()
    new = old.rescaled(UNIT * np.array([10.0, 0.1], np.float32), UNIT)
    assert not np.allclose(said(new), said(old))
    np.testing.assert_allclose(said(new) * np.asarray(new.unit), said(old) * UNIT, rtol=1e-5)
    np.testing.assert_allclose(
        new.utilities(SEEN, WEIGHTS), old.utilities(SEEN, WEIGHTS), rtol=1e-5
    )


def test_an_objective_of_larger_extent_counts_less():
    new = network().rescaled(UNIT, UNIT * np.array([1.0, 1e6], np.float32))
    first = said(network())[:, 0] * WEIGHTS[0]
    np.testing.assert_allclose(new.utilities(SEEN, WEIGHTS), first, rtol=1e-3, atol=1e-5)


def test_the_best_action_has_the_best_option_of_each_part():
    one = network(sizes=(3, 2))
    assert said(one).shape == (5, 2)
    best = one.best(jnp.array([0.1, 0.9, 0.5, -2.0, -1.0]))
    np.testing.assert_array_equal(best, [0, 1, 0, 0, 1])
    np.testing.assert_array_equal(one.taken(jnp.asarray(1 * 2 + 1)), best)  # of 3 x 2 actions


def test_normalised_layers_do_not_grow_with_their_inputs():
    def said_with_large_weights(normalises):
        one = network(normalises=normalises)
        large = eqx.tree_at(
            lambda it: it.network.layers[0].weight, one, replace_fn=lambda w: 1e3 * w
        )
        return np.abs(said(large)).max()

    assert said_with_large_weights(normalises=True) < 5
    assert said_with_large_weights(normalises=False) > 50


def test_the_best_option_is_one_that_the_mask_allows():
    one = network(sizes=(3, 2), masked=True)
    for mask in ([1, 0, 0, 0, 1], [0, 1, 0, 1, 0], [0, 0, 1, 1, 0]):
        utilities = one.utilities(np.append(SEEN, mask).astype(np.float32), WEIGHTS)
        np.testing.assert_array_equal(one.best(utilities), mask)
