"""The interface of action heads, the only code that depends on the action space."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray

from pcn.errors import UserError
from pcn.types import Action, AnyArray


class AbstractActionHead(eqx.Module):
    """Turns the outputs of a network into actions, and computes the probability of each action.

    An action is a row of `num_parts` numbers, whatever its space. The network has `num_outputs`
    outputs for it. All methods that take outputs take those of one step and can be batched with
    `jax.vmap`. The methods in the second half work on NumPy rows: they are for environments, which
    have actions in the form of their own space.
    """

    @classmethod
    @abstractmethod
    def for_space(cls, space: gym.Space[Any]) -> "AbstractActionHead":
        """The head for an action space; a `UserError` where the space has something unsupported."""

    @property
    @abstractmethod
    def num_parts(self) -> int:
        """How many numbers an action has."""

    @property
    @abstractmethod
    def num_outputs(self) -> int:
        """How many outputs of the network an action needs."""

    @property
    @abstractmethod
    def num_features(self) -> int:
        """How many numbers `features` makes of an action."""

    @abstractmethod
    def features(self, action: Num[Array, " part"]) -> Float[Array, " feature"]:
        """An action as numbers that a network can work with."""

    @property
    @abstractmethod
    def num_noise(self) -> int:
        """How many random numbers `noise` draws for one action."""

    @property
    @abstractmethod
    def mask_size(self) -> int:
        """How many entries an action mask has; 0 for a head without masks."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type that actions are stored with."""

    @property
    @abstractmethod
    def max_entropy(self) -> float:
        """The largest possible entropy, in nats."""

    @abstractmethod
    def masked(
        self, outputs: Float[Array, " output"], mask: Bool[Array, " choice"] | None
    ) -> Float[Array, " output"]:
        """Outputs that never lead to a forbidden action; unchanged where there is no mask."""

    @abstractmethod
    def sharpened(
        self, outputs: Float[Array, " output"], factor: Float[AnyArray, ""]
    ) -> Float[Array, " output"]:
        """Outputs of the same greedy action, sampled less randomly the larger the factor is."""

    @abstractmethod
    def greedy(self, outputs: Float[Array, " output"]) -> Num[Array, " part"]:
        """The most likely action."""

    @abstractmethod
    def noise(self, key: PRNGKeyArray, shape: tuple[int, ...] = ()) -> Float[Array, "*shape noise"]:
        """The random numbers that `sampled` or `random` needs, for `shape` many actions."""

    def noise_on_host(
        self, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> Float[np.ndarray, "*shape noise"] | None:
        """What `noise` draws, but by NumPy, which needs no compiled program and takes less time.

        None where only `noise` can draw it.
        """
        del rng, shape
        return None

    @abstractmethod
    def sampled(
        self, outputs: Float[Array, " output"], noise: Float[Array, " noise"]
    ) -> Num[Array, " part"]:
        """An action drawn with the probabilities of the outputs."""

    @abstractmethod
    def random(
        self, noise: Float[Array, " noise"], mask: Bool[Array, " choice"] | None
    ) -> Num[Array, " part"]:
        """An action drawn uniformly from those that the mask allows."""

    @abstractmethod
    def allowed(self, action: Action, mask: Bool[Array, " choice"] | None) -> Bool[Array, ""]:
        """Whether the mask allows an action."""

    @abstractmethod
    def log_probability(
        self, outputs: Float[Array, " output"], action: Num[Array, " part"]
    ) -> Float[Array, ""]:
        """Log-probability of an action, or its log-density where actions are continuous."""

    @abstractmethod
    def entropy(self, outputs: Float[Array, " output"]) -> Float[Array, ""]:
        """Entropy of the actions that `sampled` draws, in nats."""

    @abstractmethod
    def divergence(
        self, outputs: Float[Array, " output"], others: Float[Array, " output"]
    ) -> Float[Array, ""]:
        """Kullback-Leibler divergence of the actions of `others` from those of `outputs`."""

    @abstractmethod
    def matches(
        self, outputs: Float[Array, " output"], action: Num[Array, " part"]
    ) -> Bool[Array, ""]:
        """Whether the greedy action is this one."""

    @property
    def min_entropy(self) -> float:
        """The smallest possible entropy, in nats; that of densities can be negative."""
        return 0.0

    def doubt(self, log_probability: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """The probability of any other action, from 0 to 1."""
        return 1 - jnp.exp(log_probability)

    def option_probabilities(
        self, outputs: Float[Array, " output"]
    ) -> list[Float[Array, " option"]] | None:
        """The probability of each option of each part of an action; None where options are
        countless."""
        del outputs
        return None

    @property
    def option_sizes(self) -> tuple[int, ...] | None:
        """How many options each part of an action has; None where options are countless."""
        return None

    def to_options(self, rows: Num[np.ndarray, "*row part"]) -> Int[np.ndarray, "*row part"]:
        """The index of the option that each part of each action is, or is nearest to."""
        raise TypeError(f"{type(self).__name__} has no options")

    def from_options(self, options: Int[np.ndarray, "*row part"]) -> Num[np.ndarray, "*row part"]:
        """Actions with these options."""
        raise TypeError(f"{type(self).__name__} has no options")

    def option_names(self) -> list[list[str]] | None:
        """The name of each option of each part; None where options are only numbered."""
        return None

    @abstractmethod
    def none(self) -> Num[np.ndarray, " part"]:
        """A row that is not an action, for agents that have not acted yet."""

    @abstractmethod
    def is_none(self, action: Action) -> Bool[Array, ""]:
        """Whether a row is the one that `none` returns."""

    @abstractmethod
    def in_space(self, action: Num[Array, " part"]) -> Any:
        """One action in the form of its space; compiled environments are stepped with it."""

    @abstractmethod
    def to_environment(self, rows: Num[np.ndarray, "row part"]) -> Any:
        """Rows as a sequence of actions that a Gymnasium environment accepts."""

    @abstractmethod
    def from_environment(self, action: Any) -> Num[np.ndarray, " part"]:
        """One action of a Gymnasium environment as a row."""

    @abstractmethod
    def flat_mask(self, given: Any) -> Bool[np.ndarray, " choice"]:
        """The mask of an environment, as one vector."""

    @abstractmethod
    def to_info(self, mask: Bool[np.ndarray, " choice"]) -> dict[str, Any]:
        """The `info` in which a Gymnasium environment gives this mask; `from_info` reads it."""

    @abstractmethod
    def allowed_row(
        self,
        action: Num[np.ndarray, " part"],
        mask: Bool[np.ndarray, " choice"],
        rng: np.random.Generator,
    ) -> Num[np.ndarray, " part"]:
        """The action itself where the mask allows it, otherwise a random action that it allows."""

    @abstractmethod
    def random_row(self, rng: np.random.Generator) -> Num[np.ndarray, " part"]:
        """An action drawn uniformly from all."""

    def checked_mask(self, given: Any) -> Bool[np.ndarray, " choice"]:
        """Check the mask of an environment; a `UserError` if it does not fit or forbids all
        actions."""
        try:
            mask = self.flat_mask(given)
        except (ValueError, TypeError):
            raise UserError(f"the action mask is {given!r}, which is not an array") from None
        if len(mask) != self.mask_size:
            raise UserError(f"the action mask must have {self.mask_size} entries, got {len(mask)}")
        if not self.allows_any(mask):
            raise UserError("the action mask allows no action")
        return mask

    def allows_any(self, mask: Bool[np.ndarray, " choice"]) -> bool:
        """Whether a mask allows at least one action."""
        return bool(mask.any()) or self.mask_size == 0

    def changed_row(
        self, action: Num[np.ndarray, " part"], rng: np.random.Generator
    ) -> Num[np.ndarray, " part"]:
        """An action to try instead of this one: a near one, or any action where none is near."""
        del action
        return self.random_row(rng)

    def from_info(self, info: dict[str, Any]) -> Bool[np.ndarray, " choice"]:
        """The mask in the `info` of a Gymnasium environment; without one, all is allowed."""
        if "action_mask" not in info:
            return np.ones(self.mask_size, dtype=bool)
        return self.flat_mask(info["action_mask"])
