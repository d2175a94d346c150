"""The head of discrete action spaces: one categorical choice, or several taken together."""

from typing import Any

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray

from pcn.errors import UserError
from pcn.nets.heads.abstract import AbstractActionHead
from pcn.types import Action, AnyArray

FORBIDDEN = -1e30
"""The logit of a forbidden choice: its probability is exactly zero."""
_NO_CHOICE = -1


class CategoricalHead(AbstractActionHead):
    """Each part of an action is a choice of its own; the logits of all parts lie side by side.

    A `Discrete` action has one part; `MultiDiscrete` and `MultiBinary` actions have several.
    """

    sizes: tuple[int, ...] = eqx.field(static=True)
    """How many choices each part has."""
    shape: tuple[int, ...] = eqx.field(static=True)
    """The shape of an action in its space; () for a single number."""
    space_dtype: str = eqx.field(static=True)
    """The type of an action in its space."""

    def __init__(
        self,
        sizes: tuple[int, ...],
        *,
        shape: tuple[int, ...] | None = None,
        space_dtype: str = "int64",
    ) -> None:
        """Without a shape, a single part is a number and several parts are a vector."""
        self.sizes = sizes
        self.shape = (() if len(sizes) == 1 else (len(sizes),)) if shape is None else shape
        self.space_dtype = space_dtype

    @classmethod
    def for_space(cls, space: gym.Space[Any]) -> "CategoricalHead":
        """The head of a discrete space."""
        if np.any(getattr(space, "start", 0)):
            raise UserError(f"actions must be counted from 0, got {space}")
        if isinstance(space, gym.spaces.Discrete):
            sizes: tuple[int, ...] = (int(space.n),)
        elif isinstance(space, gym.spaces.MultiDiscrete):
            sizes = tuple(int(n) for n in np.ravel(space.nvec))
        elif isinstance(space, gym.spaces.MultiBinary):
            sizes = (2,) * int(np.prod(space.shape))
        else:
            raise UserError(f"{space} is not a discrete space")
        return cls(sizes, shape=space.shape or (), space_dtype=str(space.dtype))

    @property
    def num_parts(self) -> int:
        """One number for each choice."""
        return len(self.sizes)

    @property
    def num_outputs(self) -> int:
        """One logit for each option of each choice."""
        return sum(self.sizes)

    @property
    def num_features(self) -> int:
        """One number for each option of each choice."""
        return sum(self.sizes)

    def features(self, action: Num[Array, " part"]) -> Float[Array, " feature"]:
        """1 for each option that was chosen, 0 for the others."""
        parts = zip(action.astype(jnp.int32), self.sizes, strict=True)
        return jnp.concatenate([jax.nn.one_hot(choice, size) for choice, size in parts])

    @property
    def num_noise(self) -> int:
        """One random number for each logit."""
        return sum(self.sizes)

    @property
    def mask_size(self) -> int:
        """One entry for each option of each choice."""
        return sum(self.sizes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that actions are stored with."""
        return np.dtype(np.int32)

    @property
    def max_entropy(self) -> float:
        """The entropy of a uniform choice in every part, in nats."""
        return float(np.log(self.sizes).sum())

    def _split(self, logits: Float[Array, " output"]) -> list[Float[Array, " option"]]:
        return jnp.split(logits, np.cumsum(self.sizes)[:-1].tolist())

    def _log_probabilities(self, logits: Float[Array, " output"]) -> Float[Array, " output"]:
        """Log-probability of every option of every choice."""
        return jnp.concatenate([jax.nn.log_softmax(part) for part in self._split(logits)])

    def masked(
        self, outputs: Float[Array, " output"], mask: Bool[Array, " choice"] | None
    ) -> Float[Array, " output"]:
        """Logits in which those of forbidden choices are very low."""
        return outputs if mask is None else jnp.where(mask, outputs, FORBIDDEN)

    def sharpened(
        self, outputs: Float[Array, " output"], factor: Float[AnyArray, ""]
    ) -> Float[Array, " output"]:
        """Logits multiplied by the factor."""
        return outputs * factor

    def greedy(self, outputs: Float[Array, " output"]) -> Int[Array, " part"]:
        """The most likely action; the first one where several tie."""
        return jnp.stack([jnp.argmax(part) for part in self._split(outputs)]).astype(jnp.int32)

    def noise(self, key: PRNGKeyArray, shape: tuple[int, ...] = ()) -> Float[Array, "*shape noise"]:
        """Gumbel noise: added to logits, it makes the greedy action a sample of the softmax."""
        return jax.random.gumbel(key, (*shape, self.num_noise))

    def noise_on_host(
        self, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> Float[np.ndarray, "*shape noise"]:
        """Gumbel noise."""
        return gumbel_on_host(rng, (*shape, self.num_noise))

    def sampled(
        self, outputs: Float[Array, " output"], noise: Float[Array, " noise"]
    ) -> Int[Array, " part"]:
        """An action drawn with the softmax probabilities."""
        return self.greedy(outputs + noise)

    def random(
        self, noise: Float[Array, " noise"], mask: Bool[Array, " choice"] | None
    ) -> Int[Array, " part"]:
        """An action drawn uniformly from those that the mask allows."""
        return self.greedy(self.masked(jnp.zeros(self.num_outputs), mask) + noise)

    def allowed(self, action: Action, mask: Bool[Array, " choice"] | None) -> Bool[Array, ""]:
        """Whether the mask allows every part of an action."""
        if mask is None:
            return jnp.asarray(True)
        starts = np.cumsum((0, *self.sizes[:-1]))
        return jnp.all(mask[jnp.asarray(starts) + action])

    def log_probability(
        self, outputs: Float[Array, " output"], action: Num[Array, " part"]
    ) -> Float[Array, ""]:
        """Log-probability of a whole action: its parts are independent."""
        # Products with one-hot vectors: an index would become a slow scatter in the gradient.
        parts = [
            jnp.sum(jax.nn.log_softmax(part) * jax.nn.one_hot(action[i], part.shape[0]))
            for i, part in enumerate(self._split(outputs))
        ]
        return jnp.sum(jnp.stack(parts))

    def option_probabilities(
        self, outputs: Float[Array, " output"]
    ) -> list[Float[Array, " option"]]:
        """The softmax of each part's logits."""
        return [jax.nn.softmax(part) for part in self._split(outputs)]

    @property
    def option_sizes(self) -> tuple[int, ...]:
        """How many options each choice has."""
        return self.sizes

    def to_options(self, rows: Num[np.ndarray, "*row part"]) -> Int[np.ndarray, "*row part"]:
        """The rows themselves."""
        return np.asarray(rows)

    def from_options(self, options: Int[np.ndarray, "*row part"]) -> Num[np.ndarray, "*row part"]:
        """The options themselves."""
        return np.asarray(options)

    def entropy(self, outputs: Float[Array, " output"]) -> Float[Array, ""]:
        """Entropy of all choices together, in nats."""
        logs = self._log_probabilities(outputs)
        return -jnp.sum(jnp.exp(logs) * logs)

    def divergence(
        self, outputs: Float[Array, " output"], others: Float[Array, " output"]
    ) -> Float[Array, ""]:
        """Kullback-Leibler divergence of all choices together, in nats."""
        old, new = self._log_probabilities(outputs), self._log_probabilities(others)
        return jnp.sum(jnp.exp(old) * (old - new), axis=-1)

    def matches(
        self, outputs: Float[Array, " output"], action: Num[Array, " part"]
    ) -> Bool[Array, ""]:
        """Whether every part of the greedy action is the same."""
        return jnp.all(self.greedy(outputs) == action, axis=-1)

    def none(self) -> Int[np.ndarray, " part"]:
        """A row of -1."""
        return np.full(self.num_parts, _NO_CHOICE, np.int32)

    def is_none(self, action: Action) -> Bool[Array, ""]:
        """Whether a row is the one that `none` returns."""
        return jnp.any(action == _NO_CHOICE)

    def in_space(self, action: Num[Array, " part"]) -> Num[Array, "..."]:
        """The action with the shape of its space: a number where the space is `Discrete`."""
        return action.reshape(self.shape)

    def to_environment(self, rows: Num[np.ndarray, "row part"]) -> Any:
        """A list of Python integers for a `Discrete` space, otherwise an array of actions."""
        if self.shape == ():
            return rows[:, 0].tolist()
        return rows.reshape(-1, *self.shape).astype(self.space_dtype)

    def from_environment(self, action: Any) -> Int[np.ndarray, " part"]:
        """One action of a Gymnasium environment as a row."""
        return np.ravel(action).astype(self.dtype)

    def flat_mask(self, given: Any) -> Bool[np.ndarray, " choice"]:
        """A mask given as one vector, or as one vector for each part, as one vector."""
        parts = given if isinstance(given, tuple | list) else [given]
        return np.concatenate([np.ravel(part) for part in parts]).astype(bool)

    def allows_any(self, mask: Bool[np.ndarray, " choice"]) -> bool:
        """Whether a mask allows at least one option of every choice."""
        if len(self.sizes) == 1:
            return bool(mask.any())
        return all(part.any() for part in np.split(mask, np.cumsum(self.sizes)[:-1]))

    def to_info(self, mask: Bool[np.ndarray, " choice"]) -> dict[str, Any]:
        """One vector for a `Discrete` space, otherwise a tuple of one vector for each part."""
        parts = tuple(np.split(mask.astype(np.int8), np.cumsum(self.sizes)[:-1]))
        return {"action_mask": parts[0] if self.shape == () else parts}

    def allowed_row(
        self,
        action: Num[np.ndarray, " part"],
        mask: Bool[np.ndarray, " choice"],
        rng: np.random.Generator,
    ) -> Num[np.ndarray, " part"]:
        """The action itself where the mask allows it, otherwise a random action that it allows.

        A part of which the mask forbids everything is chosen freely.
        """
        parts = np.split(mask, np.cumsum(self.sizes)[:-1])
        if all(part[chosen] for part, chosen in zip(parts, action, strict=True)):
            return action
        open_to_all = (part if part.any() else ~part for part in parts)
        return np.array([rng.choice(np.flatnonzero(part)) for part in open_to_all], action.dtype)

    def random_row(self, rng: np.random.Generator) -> Int[np.ndarray, " part"]:
        """An action drawn uniformly from all."""
        return rng.integers(self.sizes).astype(self.dtype)


def gumbel_on_host(rng: np.random.Generator, shape: tuple[int, ...]) -> Float[np.ndarray, "..."]:
    """Gumbel noise by NumPy: minus the logarithm of exponential numbers."""
    drawn = rng.standard_exponential(shape, np.float32)
    # Of a zero the noise would be infinite, and choose what is forbidden.
    return -np.log(np.maximum(drawn, np.finfo(np.float32).tiny))
