"""The head of continuous actions as densities: a Gaussian in each of a few bins of the range."""

import math
from typing import Any, NamedTuple

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr, ndtri
from jax.scipy.stats import norm
from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray

from pcn.errors import UserError
from pcn.nets.heads.box_rows import AbstractBoxHead, BoxRows
from pcn.nets.heads.categorical import gumbel_on_host
from pcn.types import AnyArray

LEAST_SPREAD, MOST_SPREAD = 0.03, 2.0
"""Deviation of a Gaussian, in widths of its bin."""
SAME = 1e-3
"""Actions that differ by less than this share of the box are the same."""
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


class TruncatedGaussianHead(AbstractBoxHead):
    """The range of each number is divided into bins; each bin has a truncated Gaussian density.

    With one bin this is a Gaussian truncated at the bounds, whose mean and spread are learned for
    each number. With several bins, distant actions with the same return are not averaged. All bins
    of a number share one spread. The outputs of a number are the logit of the density at each bin's
    mean, the places of these means, and the spread.
    """

    box: BoxRows
    num_bins: int = eqx.field(static=True)

    @classmethod
    def for_space(cls, space: gym.Space[Any], num_bins: int = 11) -> "TruncatedGaussianHead":
        """The head of a bounded box of real numbers."""
        if not np.issubdtype(space.dtype, np.floating):
            raise UserError(f"densities need actions that are real numbers, got {space}")
        return cls(BoxRows.of(space), num_bins)

    def in_units(self, unit: Float[np.ndarray, "*row part"]) -> Float[np.ndarray, "*row part"]:
        """Any shares of the box."""
        return unit

    @property
    def num_outputs(self) -> int:
        """For each number: a logit and a mean for each bin, and one spread."""
        return self.num_parts * (2 * self.num_bins + 1)

    @property
    def num_noise(self) -> int:
        """For each number: one for each bin, and one for the place in it."""
        return self.num_parts * (self.num_bins + 1)

    @property
    def max_entropy(self) -> float:
        """The entropy of the uniform density over the box, in nats."""
        return float(np.log(self.box.extents()).sum())

    @property
    def min_entropy(self) -> float:
        """The entropy of the narrowest Gaussians, in nats."""
        narrow = math.log(LEAST_SPREAD / self.num_bins) + _LOG_ROOT + 0.5
        return self.max_entropy + self.num_parts * narrow

    def _read(self, outputs: Float[Array, " output"]) -> "_Gaussians":
        table = outputs.reshape(self.num_parts, 2 * self.num_bins + 1)
        logits, places, spreads = jnp.split(table, (self.num_bins, 2 * self.num_bins), axis=1)
        width = 1 / self.num_bins
        edges = jnp.asarray(np.arange(self.num_bins + 1) * width, jnp.float32)[None, :]
        low, high = edges[:, :-1], edges[:, 1:]
        mean = (low + high) / 2 + width / 2 * jnp.tanh(places)
        least, most = math.log(width * LEAST_SPREAD), math.log(width * MOST_SPREAD)
        spread = jnp.exp(least + (most - least) * jax.nn.sigmoid(spreads))
        alpha, beta = (low - mean) / spread, (high - mean) / spread
        return _Gaussians(logits, mean, spread, low, high, alpha, beta, ndtr(beta) - ndtr(alpha))

    def _bins(self, unit: Float[Array, " part"]) -> Float[Array, "part bin"]:
        """1 for the bin that each number lies in, 0 for the others."""
        index = jnp.minimum((unit * self.num_bins).astype(jnp.int32), self.num_bins - 1)
        return jax.nn.one_hot(index, self.num_bins)

    def sharpened(
        self, outputs: Float[Array, " output"], factor: Float[AnyArray, ""]
    ) -> Float[Array, " output"]:
        """Logits multiplied by the factor, and narrower Gaussians."""
        table = outputs.reshape(self.num_parts, -1)
        logits, places, spreads = jnp.split(table, (self.num_bins, 2 * self.num_bins), axis=1)
        parts = [logits * factor, places, spreads - 2 * jnp.log(factor)]
        return jnp.concatenate(parts, axis=1).reshape(-1)

    def greedy(self, outputs: Float[Array, " output"]) -> Float[Array, " part"]:
        """The mean of the likeliest bin: where the density is highest."""
        read = self._read(outputs)
        best = jax.nn.one_hot(jnp.argmax(read.logits, axis=1), self.num_bins)
        return self.box.row(jnp.sum(best * read.mean, axis=1))

    def noise(self, key: PRNGKeyArray, shape: tuple[int, ...] = ()) -> Float[Array, "*shape noise"]:
        """Gumbel noise for the bins, then uniform numbers for the places."""
        bin_key, place_key = jax.random.split(key)
        gumbel = jax.random.gumbel(bin_key, (*shape, self.num_parts * self.num_bins))
        places = jax.random.uniform(place_key, (*shape, self.num_parts))
        return jnp.concatenate([gumbel, places], axis=-1)

    def noise_on_host(
        self, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> Float[np.ndarray, "*shape noise"]:
        """The same, drawn by NumPy."""
        gumbel = gumbel_on_host(rng, (*shape, self.num_parts * self.num_bins))
        places = rng.random((*shape, self.num_parts), np.float32)
        return np.concatenate([gumbel, places], axis=-1)

    def sampled(
        self, outputs: Float[Array, " output"], noise: Float[Array, " noise"]
    ) -> Float[Array, " part"]:
        """A bin drawn by its probability, then a place in it from the truncated Gaussian."""
        read = self._read(outputs)
        gumbel, uniform = jnp.split(noise, (self.num_parts * self.num_bins,))
        scores = read.logits + jnp.log(read.mass) + gumbel.reshape(self.num_parts, -1)
        drawn = jax.nn.one_hot(jnp.argmax(scores, axis=1), self.num_bins)
        places = read.mean + read.spread * ndtri(ndtr(read.alpha) + uniform[:, None] * read.mass)
        places = jnp.clip(places, read.low, read.high)
        return self.box.row(jnp.sum(drawn * places, axis=1))

    def random(
        self, noise: Float[Array, " noise"], mask: Bool[Array, " choice"] | None
    ) -> Float[Array, " part"]:
        """Any point of the box."""
        del mask
        return self.box.row(noise[self.num_parts * self.num_bins :])

    def log_probability(
        self, outputs: Float[Array, " output"], action: Num[Array, " part"]
    ) -> Float[Array, ""]:
        """Log-density of an action: its numbers are independent."""
        read, unit = self._read(outputs), self.box.unit(action)
        heights = read.logits - 0.5 * ((unit[:, None] - read.mean) / read.spread) ** 2
        own = jnp.sum(self._bins(unit) * heights, axis=1)
        return jnp.sum(own - read.log_norm()) - np.float32(self.max_entropy)

    def doubt(self, log_probability: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """From 0 to 1; one half for a density that is uniform over the box."""
        return jax.nn.sigmoid(-(log_probability + self.max_entropy) / self.num_parts)

    def entropy(self, outputs: Float[Array, " output"]) -> Float[Array, ""]:
        """Entropy of the density, in nats."""
        read = self._read(outputs)
        mean_height = jnp.sum(read.probability() * (read.logits - 0.5 * read.second()), axis=1)
        return jnp.sum(read.log_norm() - mean_height) + np.float32(self.max_entropy)

    def divergence(
        self, outputs: Float[Array, " output"], others: Float[Array, " output"]
    ) -> Float[Array, ""]:
        """Kullback-Leibler divergence, in nats."""
        one, other = self._read(outputs), self._read(others)
        # The second moment around the other's mean, in spreads of the other.
        apart = one.mean - other.mean
        moment = one.second() * one.spread**2 + 2 * one.first() * one.spread * apart + apart**2
        height = one.logits - 0.5 * one.second()
        other_height = other.logits - 0.5 * moment / other.spread**2
        mean = jnp.sum(one.probability() * (height - other_height), axis=1)
        return jnp.sum(mean - one.log_norm() + other.log_norm())

    def matches(
        self, outputs: Float[Array, " output"], action: Num[Array, " part"]
    ) -> Bool[Array, ""]:
        """Whether the greedy action is the same, up to a thousandth of the box."""
        apart = self.box.unit(self.greedy(outputs)) - self.box.unit(action)
        return jnp.all(jnp.abs(apart) <= SAME)

    def option_probabilities(
        self, outputs: Float[Array, " output"]
    ) -> list[Float[Array, " option"]]:
        """How likely each bin of each number is."""
        return list(self._read(outputs).probability())

    @property
    def option_sizes(self) -> tuple[int, ...]:
        """How many bins each number has."""
        return (self.num_bins,) * self.num_parts

    def to_options(self, rows: Num[np.ndarray, "*row part"]) -> Int[np.ndarray, "*row part"]:
        """The bins that actions lie in, counted from 0."""
        unit = np.clip((rows - self.box.lows()) / self.box.extents(), 0.0, 1.0)
        return np.minimum((unit * self.num_bins).astype(np.int32), self.num_bins - 1)

    def from_options(self, options: Int[np.ndarray, "*row part"]) -> Num[np.ndarray, "*row part"]:
        """The middles of these bins."""
        unit = (options + 0.5) / self.num_bins
        return (self.box.lows() + unit * self.box.extents()).astype(np.float32)

    def random_row(self, rng: np.random.Generator) -> Float[np.ndarray, " part"]:
        """Any point of the box."""
        row = self.box.lows() + rng.uniform(size=self.num_parts) * self.box.extents()
        return np.clip(row, self.box.low, self.box.high).astype(np.float32)


class _Gaussians(NamedTuple):
    """The density of each number of an action, bin by bin, in shares of the box."""

    logits: Float[Array, "part bin"]
    """Log of the density at each mean, but for a constant."""
    mean: Float[Array, "part bin"]
    spread: Float[Array, "part 1"]
    low: Float[Array, "1 bin"]
    high: Float[Array, "1 bin"]
    alpha: Float[Array, "part bin"]
    """The bin's lower end, in spreads from the mean."""
    beta: Float[Array, "part bin"]
    mass: Float[Array, "part bin"]
    """The share of the whole Gaussian that lies in the bin."""

    def probability(self) -> Float[Array, "part bin"]:
        """How likely each bin is."""
        return jax.nn.softmax(self.logits + jnp.log(self.mass), axis=1)

    def log_norm(self) -> Float[Array, " part"]:
        """Log of the integral of exp(logit) times the Gaussians' shapes."""
        whole = jax.nn.logsumexp(self.logits + jnp.log(self.mass), axis=1)
        return whole + jnp.log(self.spread[:, 0]) + _LOG_ROOT

    def first(self) -> Float[Array, "part bin"]:
        """Mean distance from the Gaussian's mean within each bin, in spreads."""
        return (norm.pdf(self.alpha) - norm.pdf(self.beta)) / self.mass

    def second(self) -> Float[Array, "part bin"]:
        """Mean squared distance from the Gaussian's mean within each bin, in squared spreads."""
        ends = self.alpha * norm.pdf(self.alpha) - self.beta * norm.pdf(self.beta)
        return 1 + ends / self.mass
