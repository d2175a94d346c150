"""The head of mixed action spaces: a `Tuple` or `Dict` of parts that have heads of their own."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray

from pcn.errors import UserError
from pcn.nets.heads.abstract import AbstractActionHead
from pcn.nets.heads.side_by_side import AbstractSideBySide
from pcn.types import Action, AnyArray

HeadOf = Callable[[gym.Space[Any]], AbstractActionHead]


class JointHead(AbstractSideBySide):
    """Several actions at once; their rows, outputs and random numbers lie side by side.

    A mask says which choices the discrete parts have; the other parts cannot be masked.
    """

    heads: tuple[AbstractActionHead, ...]
    names: tuple[str, ...] | None = eqx.field(static=True)
    """The names of the parts of a `Dict`, in the order of rows; None for a `Tuple`."""

    @classmethod
    def for_space(cls, space: gym.Space[Any], head_of: HeadOf | None = None) -> "JointHead":
        """The heads of all parts of a `Tuple` or `Dict`, each made by `head_of`."""
        assert head_of is not None, "the parts have heads of other kinds"
        if isinstance(space, gym.spaces.Dict):
            names: tuple[str, ...] | None = tuple(sorted(space))
            parts: Sequence[gym.Space[Any]] = [space[name] for name in sorted(space)]
        else:
            assert isinstance(space, gym.spaces.Tuple)
            names, parts = None, list(space)
        if not parts:
            raise UserError(f"an action needs at least one part, got {space}")
        return cls(tuple(head_of(part) for part in parts), names)

    def _joined(self, rows: Sequence[Any]) -> Array:
        return jnp.concatenate([row.astype(self.dtype) for row in rows], axis=-1)

    def features(self, action: Num[Array, " part"]) -> Float[Array, " feature"]:
        """The features of all parts."""
        parts = zip(self.heads, self._rows(action), strict=True)
        return jnp.concatenate([head.features(row) for head, row in parts])

    @property
    def max_entropy(self) -> float:
        """Of all parts together."""
        return sum(head.max_entropy for head in self.heads)

    @property
    def min_entropy(self) -> float:
        """Of all parts together."""
        return sum(head.min_entropy for head in self.heads)

    def masked(
        self, outputs: Float[Array, " output"], mask: Bool[Array, " choice"] | None
    ) -> Float[Array, " output"]:
        """Outputs that never lead to a forbidden choice of a discrete part."""
        if mask is None:
            return outputs
        parts = zip(self.heads, self._outputs(outputs), self._masks(mask), strict=True)
        return jnp.concatenate([head.masked(own, part) for head, own, part in parts])

    def sharpened(
        self, outputs: Float[Array, " output"], factor: Float[AnyArray, ""]
    ) -> Float[Array, " output"]:
        """Each part sharpened."""
        parts = zip(self.heads, self._outputs(outputs), strict=True)
        return jnp.concatenate([head.sharpened(own, factor) for head, own in parts])

    def greedy(self, outputs: Float[Array, " output"]) -> Num[Array, " part"]:
        """The most likely action of each part."""
        parts = zip(self.heads, self._outputs(outputs), strict=True)
        return self._joined([head.greedy(own) for head, own in parts])

    def noise(self, key: PRNGKeyArray, shape: tuple[int, ...] = ()) -> Float[Array, "*shape noise"]:
        """The random numbers of each part."""
        keys = jax.random.split(key, len(self.heads))
        parts = zip(self.heads, keys, strict=True)
        return jnp.concatenate([head.noise(part_key, shape) for head, part_key in parts], axis=-1)

    def noise_on_host(
        self, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> Float[np.ndarray, "*shape noise"] | None:
        """The random numbers of each part; None where NumPy cannot draw those of one."""
        drawn = [head.noise_on_host(rng, shape) for head in self.heads]
        known = [one for one in drawn if one is not None]
        return np.concatenate(known, axis=-1) if len(known) == len(drawn) else None

    def sampled(
        self, outputs: Float[Array, " output"], noise: Float[Array, " noise"]
    ) -> Num[Array, " part"]:
        """A sample of each part."""
        parts = zip(self.heads, self._outputs(outputs), self._noises(noise), strict=True)
        return self._joined([head.sampled(own, drawn) for head, own, drawn in parts])

    def random(
        self, noise: Float[Array, " noise"], mask: Bool[Array, " choice"] | None
    ) -> Num[Array, " part"]:
        """A random action of each part."""
        parts = zip(self.heads, self._noises(noise), self._masks(mask), strict=True)
        return self._joined([head.random(drawn, part) for head, drawn, part in parts])

    def allowed(self, action: Action, mask: Bool[Array, " choice"] | None) -> Bool[Array, ""]:
        """Whether the mask allows every part."""
        parts = zip(self.heads, self._rows(action), self._masks(mask), strict=True)
        return jnp.all(jnp.stack([head.allowed(row, part) for head, row, part in parts]))

    def log_probability(
        self, outputs: Float[Array, " output"], action: Num[Array, " part"]
    ) -> Float[Array, ""]:
        """The sum over parts, which are independent."""
        parts = zip(self.heads, self._outputs(outputs), self._rows(action), strict=True)
        of_parts = [head.log_probability(own, row) for head, own, row in parts]
        return jnp.sum(jnp.stack(of_parts))

    def doubt(self, log_probability: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """From 0 to 1; one half for an action as likely as most where nothing is decided."""
        return jax.nn.sigmoid(-(log_probability + self.max_entropy) / self.num_parts)

    def entropy(self, outputs: Float[Array, " output"]) -> Float[Array, ""]:
        """Of all parts together."""
        parts = zip(self.heads, self._outputs(outputs), strict=True)
        return jnp.sum(jnp.stack([head.entropy(own) for head, own in parts]))

    def divergence(
        self, outputs: Float[Array, " output"], others: Float[Array, " output"]
    ) -> Float[Array, ""]:
        """Of all parts together."""
        parts = zip(self.heads, self._outputs(outputs), self._outputs(others), strict=True)
        return jnp.sum(jnp.stack([head.divergence(one, other) for head, one, other in parts]))

    def matches(
        self, outputs: Float[Array, " output"], action: Num[Array, " part"]
    ) -> Bool[Array, ""]:
        """Whether the greedy action of every part is the same."""
        parts = zip(self.heads, self._outputs(outputs), self._rows(action), strict=True)
        return jnp.all(jnp.stack([head.matches(own, row) for head, own, row in parts]))

    def option_probabilities(
        self, outputs: Float[Array, " output"]
    ) -> list[Float[Array, " option"]] | None:
        """Those of all parts; None where one part has countless options."""
        parts = zip(self.heads, self._outputs(outputs), strict=True)
        found = [head.option_probabilities(own) for head, own in parts]
        return None if None in found else [one for part in found for one in part or ()]

    @property
    def option_sizes(self) -> tuple[int, ...] | None:
        """Those of all parts; None where one part has countless options."""
        found = [head.option_sizes for head in self.heads]
        return None if None in found else tuple(size for part in found for size in part or ())

    def to_options(self, rows: Num[np.ndarray, "*row part"]) -> Int[np.ndarray, "*row part"]:
        """The options of all parts."""
        parts = zip(self.heads, self._rows(rows), strict=True)
        return np.concatenate([head.to_options(own) for head, own in parts], axis=-1)

    def from_options(self, options: Int[np.ndarray, "*row part"]) -> Num[np.ndarray, "*row part"]:
        """The rows of these options."""
        pieces = self._split(options, [head.num_parts for head in self.heads])
        parts = zip(self.heads, pieces, strict=True)
        rows = [head.from_options(own).astype(self.dtype) for head, own in parts]
        return np.concatenate(rows, axis=-1)

    def option_names(self) -> list[list[str]] | None:
        """Those of all parts, numbers where a part has none."""
        if self.option_sizes is None:
            return None
        return [
            names
            for head in self.heads
            for names in head.option_names()
            or [[str(number) for number in range(size)] for size in head.option_sizes or ()]
        ]

    def none(self) -> Num[np.ndarray, " part"]:
        """No action in every part."""
        return np.concatenate([head.none().astype(self.dtype) for head in self.heads])

    def is_none(self, action: Action) -> Bool[Array, ""]:
        """Whether the first part is none: all are, or no part is."""
        return self.heads[0].is_none(self._split(action, [h.num_parts for h in self.heads])[0])

    def in_space(self, action: Num[Array, " part"]) -> Any:
        """A tuple or a dict of actions."""
        parts = zip(self.heads, self._rows(action), strict=True)
        return self._packed([head.in_space(row) for head, row in parts])

    def _packed(self, actions: Sequence[Any]) -> Any:
        """What each part does, in the form of the space."""
        if self.names is None:
            return tuple(actions)
        return dict(zip(self.names, actions, strict=True))

    def to_environment(self, rows: Num[np.ndarray, "row part"]) -> Any:
        """A list of tuples or dicts."""
        parts = zip(self.heads, self._rows(rows), strict=True)
        columns = [head.to_environment(own) for head, own in parts]
        return [self._packed(actions) for actions in zip(*columns, strict=True)]

    def from_environment(self, action: Any) -> Num[np.ndarray, " part"]:
        """One tuple or dict as a row."""
        actions = action if self.names is None else [action[name] for name in self.names]
        parts = zip(self.heads, actions, strict=True)
        rows = [head.from_environment(own).astype(self.dtype) for head, own in parts]
        return np.concatenate(rows)

    def flat_mask(self, given: Any) -> Bool[np.ndarray, " choice"]:
        """A mask given for each discrete part: in the form of the space, or these alone."""
        if isinstance(given, dict) and self.names is not None:
            given = [given.get(name) for name in self.names]
        return self._flat_mask(given)

    def allows_any(self, mask: Bool[np.ndarray, " choice"]) -> bool:
        """Whether every discrete part has a choice left."""
        parts = zip(self.heads, self._masks(mask), strict=True)
        return all(part is None or head.allows_any(part) for head, part in parts)

    def to_info(self, mask: Bool[np.ndarray, " choice"]) -> dict[str, Any]:
        """A mask for each part, None for those that cannot be masked."""
        masks = [
            None if part is None else head.to_info(part)["action_mask"]
            for head, part in zip(self.heads, self._masks(mask), strict=True)
        ]
        return {"action_mask": self._packed(masks)}

    def allowed_row(
        self,
        action: Num[np.ndarray, " part"],
        mask: Bool[np.ndarray, " choice"],
        rng: np.random.Generator,
    ) -> Num[np.ndarray, " part"]:
        """Each part as it is where the mask allows it, otherwise a random one that it allows."""
        parts = zip(self.heads, self._rows(action), self._masks(mask), strict=True)
        rows = [
            row if part is None else head.allowed_row(row, part, rng) for head, row, part in parts
        ]
        return np.concatenate([row.astype(self.dtype) for row in rows])

    def random_row(self, rng: np.random.Generator) -> Num[np.ndarray, " part"]:
        """A random action of each part."""
        return np.concatenate([head.random_row(rng).astype(self.dtype) for head in self.heads])

    def changed_row(
        self, action: Num[np.ndarray, " part"], rng: np.random.Generator
    ) -> Num[np.ndarray, " part"]:
        """One part changed."""
        rows = self._rows(np.asarray(action))
        chosen = int(rng.integers(len(self.heads)))
        rows[chosen] = self.heads[chosen].changed_row(rows[chosen], rng)
        return np.concatenate([row.astype(self.dtype) for row in rows])
