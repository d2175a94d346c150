import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.mones.search_distribution import (
    Coordinates,
    DiagonalGaussian,
    FullGaussian,
    importance_weights,
)

pytestmark = pytest.mark.slow

MEAN = jnp.array([0.5, -1.0, 2.0])
BELOW = jnp.array([[0.0, 0.0, 0.0], [0.7, 0.0, 0.0], [-0.4, 0.3, 0.0]])
DIAGONAL = DiagonalGaussian(MEAN, jnp.log(jnp.array([0.5, 2.0, 0.1])))
FULL = FullGaussian(MEAN, jnp.log(jnp.array([0.5, 2.0, 0.1])), BELOW)
both = pytest.mark.parametrize("distribution", [DIAGONAL, FULL], ids=["diagonal", "full"])


def covariance(distribution):
    factor = jax.vmap(distribution.coloured)(jnp.eye(3)).T
    return np.asarray(factor @ factor.T, dtype=np.float64)


def zeros(distribution):
    return jax.tree.map(jnp.zeros_like, distribution.fisher())


def some_step(distribution):
    """A step of random size; a full covariance has none above the diagonal."""
    rng = np.random.default_rng(0)
    shift, stretch = (rng.normal(scale=0.3, size=part.shape) for part in distribution.fisher())
    stretch = np.tril(stretch) if stretch.ndim == 2 else stretch
    return Coordinates(jnp.asarray(shift, jnp.float32), jnp.asarray(stretch, jnp.float32))


@both
def test_draws_have_the_mean_and_the_covariance(distribution):
    draws = np.asarray(distribution.sample(jax.random.key(0), 50_000))
    np.testing.assert_allclose(draws.mean(axis=0), MEAN, atol=0.06)
    np.testing.assert_allclose(np.cov(draws.T), covariance(distribution), atol=0.06)


@both
def test_log_density_is_the_gaussian_s_up_to_a_constant(distribution):
    draws = np.asarray(distribution.sample(jax.random.key(1), 5), dtype=np.float64)
    matrix = covariance(distribution)
    away = draws - np.asarray(MEAN)
    expected = -0.5 * np.einsum("di,ij,dj->d", away, np.linalg.inv(matrix), away)
    expected -= 0.5 * np.log(np.linalg.det(matrix))
    actual = jax.vmap(distribution.log_density)(jnp.asarray(draws, jnp.float32))
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-3)


@both
def test_the_score_is_the_gradient_of_the_log_density_of_a_moved_distribution(distribution):
    draw = distribution.sample(jax.random.key(2), 1)[0]
    by_hand = distribution.score(draw)
    by_autodiff = jax.grad(lambda step: distribution.moved(step).log_density(draw))(
        zeros(distribution)
    )
    np.testing.assert_allclose(by_hand.shift, by_autodiff.shift, atol=1e-4)
    np.testing.assert_allclose(by_hand.stretch, by_autodiff.stretch, atol=1e-4)


@both
def test_the_fisher_matrix_is_the_mean_outer_product_of_scores(distribution):
    draws = distribution.sample(jax.random.key(3), 50_000)
    slope = jax.grad(lambda step, draw: distribution.moved(step).log_density(draw))
    scores = jax.vmap(slope, in_axes=(None, 0))(zeros(distribution), draws)
    flat = np.concatenate([np.asarray(part).reshape(len(draws), -1) for part in scores], axis=1)
    claimed = np.concatenate([np.ravel(part) for part in distribution.fisher()])
    used = flat.std(axis=0) > 0  # nothing stands above the diagonal of a triangle
    assert used.sum() == (6 if distribution is DIAGONAL else 9)
    estimated = flat[:, used].T @ flat[:, used] / len(draws)
    np.testing.assert_allclose(estimated, np.diag(claimed[used]), atol=0.08)


@both
def test_the_natural_gradient_of_a_linear_fitness_is_known(distribution):
    # E[a . x] = a . mean, so the gradient with respect to the shift is factorᵀ a; F is 1 there.
    slope = jnp.array([1.0, 0.3, -2.0])
    draws = distribution.sample(jax.random.key(4), 50_000)
    importance = jnp.full(len(draws), 1 / len(draws))
    step = distribution.natural_gradient(draws, draws @ slope, importance)
    factor = np.asarray(jax.vmap(distribution.coloured)(jnp.eye(3)).T)
    np.testing.assert_allclose(step.shift, factor.T @ np.asarray(slope), atol=0.06)
    np.testing.assert_allclose(step.stretch, 0.0, atol=0.06)


@both
def test_the_natural_gradient_of_a_squared_fitness_halves_the_gradient(distribution):
    # E[z_0²] with z_0 = e^s: its gradient at s = 0 is 2, the Fisher matrix is 2, the step is 1.
    draws = distribution.sample(jax.random.key(5), 50_000)
    white = jax.vmap(distribution.whitened)(draws)
    importance = jnp.full(len(draws), 1 / len(draws))
    step = distribution.natural_gradient(draws, white[:, 0] ** 2, importance)
    exponents = step.stretch if step.stretch.ndim == 1 else jnp.diagonal(step.stretch)
    np.testing.assert_allclose(exponents, [1.0, 0.0, 0.0], atol=0.08)


@both
def test_divergence_is_that_of_two_gaussians(distribution):
    step = some_step(distribution)
    moved = distribution.moved(step)
    new, old = covariance(moved), covariance(distribution)
    away = np.asarray(moved.mean - distribution.mean, dtype=np.float64)
    inverse = np.linalg.inv(old)
    expected = 0.5 * (
        np.trace(inverse @ new) - 3 + away @ inverse @ away
        + np.log(np.linalg.det(old) / np.linalg.det(new))
    )  # fmt: skip
    np.testing.assert_allclose(distribution.divergence(step), expected, rtol=1e-3)


@both
@pytest.mark.parametrize("bound", [0.01, 0.1, 2.0])
def test_a_bounded_step_goes_to_the_bound_in_its_direction(distribution, bound):
    direction = some_step(distribution)
    step = distribution.bounded(direction, bound)
    assert float(distribution.divergence(step)) == pytest.approx(bound, rel=1e-3)
    ratio = step.shift / direction.shift
    np.testing.assert_allclose(ratio, jnp.full(3, ratio[0]), rtol=1e-5)
    assert float(ratio[0]) > 0


@both
def test_no_direction_is_no_step(distribution):
    step = distribution.bounded(zeros(distribution), 0.1)
    assert float(distribution.divergence(step)) == 0.0


@both
def test_variances_stay_positive_however_long_the_step(distribution):
    step = some_step(distribution).times(-20.0)
    assert np.linalg.eigvalsh(covariance(distribution.moved(step))).min() > 0


def stack_of(*distributions):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *distributions)


def test_earlier_draws_tell_expectations_of_the_current_distribution():
    earlier = DiagonalGaussian(jnp.array([1.0]), jnp.array([0.3]))
    current = DiagonalGaussian(jnp.array([0.0]), jnp.array([0.0]))
    draws = jnp.concatenate(
        [current.sample(jax.random.key(0), 50_000), earlier.sample(jax.random.key(1), 50_000)]
    )
    weights = importance_weights(current, stack_of(current, earlier), draws, jnp.ones(2))
    assert float(weights.sum()) == pytest.approx(1.0, abs=1e-4)
    assert float(weights @ draws[:, 0]) == pytest.approx(0.0, abs=0.02)
    assert float(weights @ draws[:, 0] ** 2) == pytest.approx(1.0, abs=0.03)


def test_draws_of_generations_that_have_not_been_do_not_count():
    current = DiagonalGaussian(jnp.zeros(2), jnp.zeros(2))
    elsewhere = DiagonalGaussian(jnp.full(2, 5.0), jnp.zeros(2))
    draws = jnp.concatenate([current.sample(jax.random.key(0), 4), jnp.zeros((4, 2))])
    weights = importance_weights(
        current, stack_of(current, elsewhere), draws, jnp.array([1.0, 0.0])
    )
    np.testing.assert_allclose(weights, [0.25] * 4 + [0.0] * 4, rtol=1e-5)
