"""A value network in other units expects the same returns, and its weights count other extents."""

import jax
import numpy as np

from pcn.nets.value_network import ValueNetwork

UNIT = np.array([2.0, 50.0], np.float32)
SEEN, WEIGHTS = np.array([0.3, -1.0, 2.0], np.float32), np.array([0.25, 0.75], np.float32)


def network():
    zeros = np.zeros(3, np.float32)
    return ValueNetwork(zeros, zeros + 1, UNIT, num_options=4, width=8, key=jax.random.PRNGKey(0))


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
