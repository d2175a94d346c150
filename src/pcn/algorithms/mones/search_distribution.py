"""The Gaussian over policy weights, its natural gradient, and steps of bounded divergence.

Steps are taken in local coordinates: the mean moves by `factor @ shift` and the factor A of the
covariance A Aᵀ is multiplied by a triangular matrix T whose diagonal is exponentiated. So every
variance stays positive, and the Fisher matrix at the distribution itself is diagonal and known
exactly: 1 for each shift, 2 for each exponent, 1 for each entry below the diagonal.
"""

from abc import abstractmethod
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pcn.types import AnyArray

BISECTIONS = 40


class Coordinates(NamedTuple):
    """A step away from a distribution; all zeros stay where they are."""

    shift: Float[Array, " weight"]
    stretch: Float[Array, "*weight_by_weight"]
    """Exponents on the diagonal, for a full covariance with a lower triangle beside them."""

    def times(self, scale: Float[AnyArray, ""] | float) -> "Coordinates":
        """The same direction, further or less far."""
        return Coordinates(self.shift * scale, self.stretch * scale)


Distribution = TypeVar("Distribution", bound="AbstractSearchDistribution")


class AbstractSearchDistribution(eqx.Module):
    """A Gaussian over vectors of weights."""

    mean: eqx.AbstractVar[Float[Array, " weight"]]

    @abstractmethod
    def coloured(self, noise: Float[Array, " weight"]) -> Float[Array, " weight"]:
        """A standard normal vector with this distribution's covariance."""

    @abstractmethod
    def whitened(self, weights: Float[Array, " weight"]) -> Float[Array, " weight"]:
        """The standard normal vector that a draw was made from."""

    @abstractmethod
    def log_volume(self) -> Float[Array, ""]:
        """Logarithm of the covariance factor's determinant."""

    @abstractmethod
    def score(self, weights: Float[Array, " weight"]) -> Coordinates:
        """The gradient of a draw's log-density with respect to the coordinates, at zero."""

    @abstractmethod
    def fisher(self) -> Coordinates:
        """The diagonal of the Fisher matrix in these coordinates."""

    @abstractmethod
    def moved(self: Distribution, step: Coordinates) -> Distribution:
        """The distribution after a step."""

    @abstractmethod
    def divergence(self, step: Coordinates) -> Float[Array, ""]:
        """Kullback-Leibler divergence of the moved distribution from this one, in nats."""

    def sample(self, key: PRNGKeyArray, num_draws: int) -> Float[Array, "draw weight"]:
        """Draw weights."""
        noise = jax.random.normal(key, (num_draws, self.mean.shape[0]))
        return self.mean[None, :] + jax.vmap(self.coloured)(noise)

    def log_density(self, weights: Float[Array, " weight"]) -> Float[Array, ""]:
        """Log-density of a draw, without the constant that all Gaussians of a size share."""
        return -0.5 * jnp.sum(self.whitened(weights) ** 2) - self.log_volume()

    def natural_gradient(
        self,
        draws: Float[Array, "draw weight"],
        fitness: Float[Array, " draw"],
        importance: Float[Array, " draw"],
    ) -> Coordinates:
        """The inverse Fisher matrix times the gradient of expected fitness.

        `importance` are the draws' weights, which add up to one. The baseline is the one that
        leaves the estimate the least variance, measured by the Fisher matrix.
        """
        fisher = self.fisher()
        scores = jax.vmap(self.score)(draws)
        length = sum(
            jnp.sum(part**2 / metric[None], axis=tuple(range(1, part.ndim)))
            for part, metric in zip(scores, fisher, strict=True)
        )
        blame = importance**2 * length
        baseline = jnp.sum(blame * fitness) / jnp.maximum(jnp.sum(blame), 1e-30)
        advantage = importance * (fitness - baseline)
        shift, stretch = (
            jnp.tensordot(advantage, part, axes=1) / metric
            for part, metric in zip(scores, fisher, strict=True)
        )
        return Coordinates(shift, stretch)

    def bounded(self, direction: Coordinates, bound: Float[AnyArray, ""] | float) -> Coordinates:
        """The step along `direction` whose divergence is `bound`; none along a zero direction."""
        curvature = sum(
            jnp.sum(part**2 * metric) for part, metric in zip(direction, self.fisher(), strict=True)
        )
        # To second order the divergence is half the curvature times the squared scale.
        guess = jnp.sqrt(2 * bound / jnp.maximum(curvature, 1e-30))

        def halve(_: Any, interval: tuple[Array, Array]) -> tuple[Array, Array]:
            low, high = interval
            middle = (low + high) / 2
            inside = self.divergence(direction.times(middle)) <= bound
            return jnp.where(inside, middle, low), jnp.where(inside, high, middle)

        low, _ = jax.lax.fori_loop(0, BISECTIONS, halve, (jnp.zeros_like(guess), 2 * guess))
        return direction.times(jnp.where(curvature > 0, low, 0.0))


class DiagonalGaussian(AbstractSearchDistribution):
    """Independent weights."""

    mean: Float[Array, " weight"]
    log_deviation: Float[Array, " weight"]

    @classmethod
    def around(cls, mean: Float[Array, " weight"], deviation: float) -> "DiagonalGaussian":
        """The same deviation for every weight."""
        return cls(mean, jnp.full_like(mean, jnp.log(deviation)))

    def coloured(self, noise: Float[Array, " weight"]) -> Float[Array, " weight"]:
        """Scaled weight by weight."""
        return jnp.exp(self.log_deviation) * noise

    def whitened(self, weights: Float[Array, " weight"]) -> Float[Array, " weight"]:
        """Scaled back."""
        return (weights - self.mean) * jnp.exp(-self.log_deviation)

    def log_volume(self) -> Float[Array, ""]:
        """Sum of the log-deviations."""
        return jnp.sum(self.log_deviation)

    def score(self, weights: Float[Array, " weight"]) -> Coordinates:
        """z and z² - 1, where z is the whitened draw."""
        white = self.whitened(weights)
        return Coordinates(white, white**2 - 1)

    def fisher(self) -> Coordinates:
        """Variances of z and z² - 1."""
        return Coordinates(jnp.ones_like(self.mean), jnp.full_like(self.mean, 2.0))

    def moved(self, step: Coordinates) -> "DiagonalGaussian":
        """Mean and deviations after a step."""
        return DiagonalGaussian(
            self.mean + self.coloured(step.shift), self.log_deviation + step.stretch
        )

    def divergence(self, step: Coordinates) -> Float[Array, ""]:
        """In whitened coordinates: from N(shift, e^(2 stretch)) to the standard normal."""
        # exp(2x) - 1 loses all digits of a small x.
        spread = jnp.expm1(2 * step.stretch) - 2 * step.stretch
        return 0.5 * jnp.sum(step.shift**2 + spread)


class FullGaussian(AbstractSearchDistribution):
    """Correlated weights; the covariance is that of `factor`, a Cholesky factor."""

    mean: Float[Array, " weight"]
    log_diagonal: Float[Array, " weight"]
    below: Float[Array, "weight weight_too"]
    """What stands below the factor's diagonal; zeros elsewhere."""

    @classmethod
    def around(cls, mean: Float[Array, " weight"], deviation: float) -> "FullGaussian":
        """Independent weights of the same deviation to begin with."""
        size = mean.shape[0]
        return cls(mean, jnp.full_like(mean, jnp.log(deviation)), jnp.zeros((size, size)))

    def factor(self) -> Float[Array, "weight weight_too"]:
        """The Cholesky factor of the covariance."""
        return self.below + jnp.diag(jnp.exp(self.log_diagonal))

    def coloured(self, noise: Float[Array, " weight"]) -> Float[Array, " weight"]:
        """Multiplied by the factor."""
        return self.factor() @ noise

    def whitened(self, weights: Float[Array, " weight"]) -> Float[Array, " weight"]:
        """Solved for, since the factor is triangular."""
        return jax.scipy.linalg.solve_triangular(self.factor(), weights - self.mean, lower=True)

    def log_volume(self) -> Float[Array, ""]:
        """Sum of the diagonal's logarithms."""
        return jnp.sum(self.log_diagonal)

    def score(self, weights: Float[Array, " weight"]) -> Coordinates:
        """z, z_i² - 1 on the diagonal and z_i z_j below it."""
        white = self.whitened(weights)
        products = jnp.tril(jnp.outer(white, white))
        return Coordinates(white, products - jnp.eye(white.shape[0]))

    def fisher(self) -> Coordinates:
        """2 on the diagonal, 1 elsewhere: also above it, where every score is zero."""
        size = self.mean.shape[0]
        return Coordinates(jnp.ones(size), jnp.ones((size, size)) + jnp.eye(size))

    def moved(self, step: Coordinates) -> "FullGaussian":
        """The factor is multiplied by the triangle that `stretch` stands for."""
        exponents = jnp.diagonal(step.stretch)
        factor = self.factor() @ (jnp.tril(step.stretch, -1) + jnp.diag(jnp.exp(exponents)))
        return FullGaussian(
            self.mean + self.coloured(step.shift),
            self.log_diagonal + exponents,
            jnp.tril(factor, -1),
        )

    def divergence(self, step: Coordinates) -> Float[Array, ""]:
        """As for independent weights, and half the squares of what stands below the diagonal."""
        exponents = jnp.diagonal(step.stretch)
        spread = jnp.expm1(2 * exponents) - 2 * exponents
        below = jnp.tril(step.stretch, -1)
        return 0.5 * (jnp.sum(step.shift**2 + spread) + jnp.sum(below**2))


def importance_weights(
    current: AbstractSearchDistribution,
    sources: AbstractSearchDistribution,
    draws: Float[Array, "draw weight"],
    known_mask: Float[Array, " source"],
) -> Float[Array, " draw"]:
    """How much each draw counts for the current distribution; the weights add up to one.

    The draws are equally many from each of `sources`, a stack of distributions of which only
    those in `known_mask` count; a draw's weight is its density now over its mean density then.
    """
    by_source = jax.vmap(lambda source: jax.vmap(source.log_density)(draws), out_axes=1)(sources)
    then = jax.nn.logsumexp(by_source, axis=1, b=known_mask[None, :])
    now = jax.vmap(current.log_density)(draws)
    known = jnp.repeat(known_mask, draws.shape[0] // known_mask.shape[0])
    # The first source is the current distribution, so that no ratio is large.
    ratios = jnp.where(known > 0, jnp.exp(now - then), 0.0)
    return ratios / jnp.sum(ratios)
