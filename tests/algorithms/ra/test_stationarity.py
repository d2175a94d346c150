import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.ra.stationarity import ascent_norm, minimum_norm_weights
from pcn.pareto import lattice_points


@pytest.mark.parametrize("num_objectives", [2, 3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_no_point_of_a_fine_grid_is_shorter(num_objectives, seed):
    rng = np.random.default_rng(seed)
    gradients = rng.normal(size=(num_objectives, 3 if seed % 2 else 10))
    gram = gradients @ gradients.T
    weights = np.asarray(minimum_norm_weights(jnp.asarray(gram, jnp.float32)), dtype=np.float64)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1.0, abs=1e-5)
    grid = lattice_points(num_objectives, {2: 2000, 3: 120, 4: 40}[num_objectives])
    best = np.einsum("go,op,gp->g", grid, gram, grid).min()
    assert weights @ gram @ weights <= best + 1e-4 * gram.max()


def test_two_unit_gradients_by_hand():
    # At an angle of 120 degrees the shortest mixture lies in the middle: cos(60 degrees) = 1/2.
    gradients = jnp.array([[1.0, 0.0], [-0.5, np.sqrt(0.75)]])
    assert float(ascent_norm(gradients)) == pytest.approx(0.5, abs=1e-3)
    # Lengths do not count.
    assert float(ascent_norm(gradients * jnp.array([[7.0], [0.1]]))) == pytest.approx(0.5, abs=1e-3)


def test_opposed_gradients_are_stationary_and_agreeing_ones_are_not():
    assert float(ascent_norm(jnp.array([[1.0, 2.0], [-2.0, -4.0]]))) == pytest.approx(0, abs=1e-3)
    assert float(ascent_norm(jnp.array([[1.0, 2.0], [2.0, 4.0]]))) == pytest.approx(1, abs=1e-3)
    corners = jnp.array([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])  # zero lies inside the triangle
    assert float(ascent_norm(corners)) == pytest.approx(0, abs=1e-3)


def test_an_objective_without_a_gradient_does_not_make_a_point_stationary():
    nothing = [0.0, 0.0]
    assert float(ascent_norm(jnp.array([[1.0, 2.0], nothing]))) == pytest.approx(1, abs=1e-3)
    assert float(ascent_norm(jnp.array([nothing, nothing]))) == 1
    # The others decide: here they are opposed, and at a right angle.
    opposed = jnp.array([nothing, [1.0, 2.0], [-2.0, -4.0]])
    assert float(ascent_norm(opposed)) == pytest.approx(0, abs=1e-3)
    square = jnp.array([[3.0, 0.0], nothing, [0.0, 1.0]])
    assert float(ascent_norm(square)) == pytest.approx(np.sqrt(0.5), abs=1e-3)


def test_many_policies_are_tested_side_by_side():
    gradients = jnp.stack([jnp.eye(2), -jnp.eye(2)])
    np.testing.assert_allclose(jax.vmap(ascent_norm)(gradients), np.sqrt([0.5, 0.5]), atol=1e-3)
