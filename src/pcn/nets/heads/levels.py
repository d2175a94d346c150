"""The head of continuous actions in levels: each number is one of a few evenly spaced values."""

from typing import Any

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray

from pcn.errors import UserError
from pcn.nets.heads.box_rows import AbstractBoxHead, BoxRows
from pcn.nets.heads.categorical import CategoricalHead
from pcn.types import AnyArray

MOST_INTEGERS = 256
"""A number of a box of integers may have so many values."""


class LevelsHead(AbstractBoxHead):
    """Each number of an action is a choice among evenly spaced levels, both bounds included.

    Several actions that reach the same return stay apart: their mean is never taken. An action
    that was not made here counts as the nearest levels.
    """

    box: BoxRows
    choices: CategoricalHead
    """One choice of a level for each number."""

    @classmethod
    def for_space(cls, space: gym.Space[Any], num_levels: int = 11) -> "LevelsHead":
        """The head of a bounded box; all values are levels where they are integers."""
        box = BoxRows.of(space)
        if np.issubdtype(space.dtype, np.floating):
            sizes = [
                num_levels if high > low else 1 for low, high in zip(box.low, box.high, strict=True)
            ]
        else:
            sizes = [round(high - low) + 1 for low, high in zip(box.low, box.high, strict=True)]
            if max(sizes) > MOST_INTEGERS:
                raise UserError(
                    f"whole numbers as actions may have {MOST_INTEGERS} values at most, got {space}"
                )
        return cls(box, CategoricalHead(tuple(sizes), shape=(len(sizes),)))

    def steps(self) -> Float[np.ndarray, " part"]:
        """Levels beyond the first one."""
        return np.maximum(np.asarray(self.choices.sizes, np.float32) - 1, 1)

    def _index(self, action: Num[Array, " part"]) -> Int[Array, " part"]:
        return jnp.rint(self.box.unit(action) * self.steps()).astype(jnp.int32)

    def _row(self, index: Int[Array, " part"]) -> Float[Array, " part"]:
        return self.box.row(index / self.steps())

    def in_units(self, unit: Float[np.ndarray, "*row part"]) -> Float[np.ndarray, "*row part"]:
        """The nearest levels."""
        return (np.rint(unit * self.steps()) / self.steps()).astype(np.float32)

    @property
    def num_outputs(self) -> int:
        """One logit for each level of each number."""
        return self.choices.num_outputs

    @property
    def num_noise(self) -> int:
        """One random number for each logit."""
        return self.choices.num_noise

    @property
    def max_entropy(self) -> float:
        """The entropy of a uniform choice of every level, in nats."""
        return self.choices.max_entropy

    def sharpened(
        self, outputs: Float[Array, " output"], factor: Float[AnyArray, ""]
    ) -> Float[Array, " output"]:
        """Logits multiplied by the factor."""
        return self.choices.sharpened(outputs, factor)

    def greedy(self, outputs: Float[Array, " output"]) -> Float[Array, " part"]:
        """The most likely levels."""
        return self._row(self.choices.greedy(outputs))

    def noise(self, key: PRNGKeyArray, shape: tuple[int, ...] = ()) -> Float[Array, "*shape noise"]:
        """Gumbel noise for the logits."""
        return self.choices.noise(key, shape)

    def noise_on_host(
        self, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> Float[np.ndarray, "*shape noise"]:
        """Gumbel noise for the logits."""
        return self.choices.noise_on_host(rng, shape)

    def sampled(
        self, outputs: Float[Array, " output"], noise: Float[Array, " noise"]
    ) -> Float[Array, " part"]:
        """Levels drawn with the softmax probabilities."""
        return self._row(self.choices.sampled(outputs, noise))

    def random(
        self, noise: Float[Array, " noise"], mask: Bool[Array, " choice"] | None
    ) -> Float[Array, " part"]:
        """Levels drawn uniformly."""
        del mask
        return self._row(self.choices.random(noise, None))

    def log_probability(
        self, outputs: Float[Array, " output"], action: Num[Array, " part"]
    ) -> Float[Array, ""]:
        """Log-probability of the nearest levels."""
        return self.choices.log_probability(outputs, self._index(action))

    def entropy(self, outputs: Float[Array, " output"]) -> Float[Array, ""]:
        """Entropy of all choices together, in nats."""
        return self.choices.entropy(outputs)

    def divergence(
        self, outputs: Float[Array, " output"], others: Float[Array, " output"]
    ) -> Float[Array, ""]:
        """Kullback-Leibler divergence of all choices together, in nats."""
        return self.choices.divergence(outputs, others)

    def matches(
        self, outputs: Float[Array, " output"], action: Num[Array, " part"]
    ) -> Bool[Array, ""]:
        """Whether the most likely levels are those nearest to the action."""
        return self.choices.matches(outputs, self._index(action))

    def option_probabilities(
        self, outputs: Float[Array, " output"]
    ) -> list[Float[Array, " option"]]:
        """How likely each level of each number is."""
        return self.choices.option_probabilities(outputs)

    @property
    def option_sizes(self) -> tuple[int, ...]:
        """How many levels each number has."""
        return self.choices.sizes

    def to_options(self, rows: Num[np.ndarray, "*row part"]) -> Int[np.ndarray, "*row part"]:
        """The nearest levels, counted from 0."""
        unit = np.clip((rows - self.box.lows()) / self.box.extents(), 0.0, 1.0)
        return np.rint(unit * self.steps()).astype(np.int32)

    def from_options(self, options: Int[np.ndarray, "*row part"]) -> Num[np.ndarray, "*row part"]:
        """The values of these levels."""
        values = self.box.lows() + options / self.steps() * self.box.extents()
        return np.clip(values, self.box.low, self.box.high).astype(np.float32)

    def random_row(self, rng: np.random.Generator) -> Float[np.ndarray, " part"]:
        """Levels drawn uniformly."""
        return self.from_options(self.choices.random_row(rng))
