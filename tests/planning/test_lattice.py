"""Interpolation on a lattice, against SciPy's."""

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from pcn.planning.lattice import Lattice

SEEN = np.array([[-1.0, 10.0], [3.0, 14.0], [0.0, 12.0]])
LATTICE = Lattice.over(SEEN, most_nodes=30, most_along=9)


def test_nodes_span_what_was_seen():
    assert LATTICE.counts.tolist() == [5, 5]
    corners = LATTICE.observations(LATTICE.nodes[[0, -1]])
    np.testing.assert_allclose(corners, [[-1, 10], [3, 14]])


def test_interpolation_is_scipys():
    rng = np.random.default_rng(0)
    values = rng.normal(size=len(LATTICE))
    axes = [low + size * np.arange(5) for low, size in zip(LATTICE.low, LATTICE.size, strict=True)]
    theirs = RegularGridInterpolator(axes, values.reshape(5, 5))
    seen = rng.uniform([-1, 10], [3, 14], size=(200, 2))
    nodes, shares = LATTICE.corners(LATTICE.places(seen))
    np.testing.assert_allclose((values[nodes] * shares).sum(axis=1), theirs(seen), atol=1e-9)


def test_places_outside_count_as_the_nearest_one_at_the_edge():
    nodes, shares = LATTICE.corners(np.array([[-3.0, 9.0]]))
    np.testing.assert_allclose((LATTICE.nodes[nodes[0]] * shares[0][:, None]).sum(axis=0), [0, 4])


def test_a_number_that_never_changes_has_two_nodes_at_least():
    flat = Lattice.over(np.full((3, 1), 7.0), most_nodes=9, most_along=4)
    nodes, shares = flat.corners(flat.places(np.array([[7.0]])))
    assert shares[0, nodes[0] == 0].sum() == 1
