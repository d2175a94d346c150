"""Rows of numbers for the actions of a `Box`, shared by all heads of continuous actions."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Num

from pcn.errors import UserError
from pcn.nets.heads.abstract import AbstractActionHead
from pcn.types import Action

NEARBY = 0.1
"""Deviation of a changed action from the old one, as a share of the box."""
LARGEST = 1e30
"""Bounds beyond this count as none: some environments use the largest float instead of infinity."""


class BoxRows(eqx.Module):
    """A bounded box: the numbers of an action lie in a row, in the units of the environment."""

    low: tuple[float, ...] = eqx.field(static=True)
    high: tuple[float, ...] = eqx.field(static=True)
    shape: tuple[int, ...] = eqx.field(static=True)
    """The shape of an action in its space."""
    space_dtype: str = eqx.field(static=True)
    """The type of an action in its space."""

    @classmethod
    def of(cls, space: gym.Space[Any]) -> "BoxRows":
        """The rows of a box; a `UserError` where it is unbounded."""
        assert isinstance(space, gym.spaces.Box)
        if not is_bounded(space):
            raise UserError(
                f"the actions {space} have no bounds: give the smallest and the largest value to "
                "use, action_low and action_high (--action-low, --action-high)"
            )
        low, high = (tuple(np.ravel(side).astype(float).tolist()) for side in _sides(space))
        return cls(low, high, space.shape, str(space.dtype))

    @property
    def num_parts(self) -> int:
        """How many numbers an action has."""
        return len(self.low)

    def lows(self) -> Float[np.ndarray, " part"]:
        """The smallest value of each part, in the precision of rows."""
        return np.asarray(self.low, np.float32)

    def extents(self) -> Float[np.ndarray, " part"]:
        """The range of each part; 1 where it is a single value."""
        extents = np.asarray(self.high, np.float32) - self.lows()
        return np.where(extents > 0, extents, np.float32(1))

    def unit(self, action: Num[Array, " part"]) -> Float[Array, " part"]:
        """The action in shares of the box, from 0 to 1."""
        return jnp.clip((action - self.lows()) / self.extents(), 0.0, 1.0)

    def row(self, unit: Float[Array, " part"]) -> Float[Array, " part"]:
        """The action of these shares of the box."""
        return jnp.clip(self.lows() + unit * self.extents(), self.lows(), jnp.asarray(self.high))

    def to_environment(self, rows: Num[np.ndarray, "row part"]) -> np.ndarray:
        """Rows as an array of actions; none is outside of the box, whatever its precision."""
        kind = np.dtype(self.space_dtype)
        if kind.kind != "f":
            rows = np.rint(rows)
        inside = np.clip(rows.astype(np.float64), self.low, self.high)
        return inside.astype(kind).reshape(-1, *self.shape)


def is_bounded(space: gym.spaces.Box) -> bool:
    """Whether every number of an action has a smallest and a largest value."""
    low, high = _sides(space)
    return bool(np.all(np.abs(low) < LARGEST) and np.all(np.abs(high) < LARGEST))


def _sides(space: gym.spaces.Box) -> tuple[np.ndarray, np.ndarray]:
    """Bounds in double precision; a box of integers marks an open side elsewhere."""
    low = np.where(space.bounded_below, space.low.astype(np.float64), -np.inf)
    high = np.where(space.bounded_above, space.high.astype(np.float64), np.inf)
    return low, high


class AbstractBoxHead(AbstractActionHead):
    """A head of continuous actions, which has no masks."""

    box: eqx.AbstractVar[BoxRows]

    @abstractmethod
    def in_units(self, unit: Float[np.ndarray, "*row part"]) -> Float[np.ndarray, "*row part"]:
        """The nearest shares of the box that the head can choose."""

    @property
    def num_parts(self) -> int:
        """One number for each number of the box."""
        return self.box.num_parts

    @property
    def num_features(self) -> int:
        """One number for each number of the box."""
        return self.num_parts

    def features(self, action: Num[Array, " part"]) -> Float[Array, " feature"]:
        """The action from -1 to 1."""
        return 2 * self.box.unit(action) - 1

    @property
    def mask_size(self) -> int:
        """Continuous actions have no mask."""
        return 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that actions are stored with."""
        return np.dtype(np.float32)

    def masked(
        self, outputs: Float[Array, " output"], mask: Bool[Array, " choice"] | None
    ) -> Float[Array, " output"]:
        """The outputs as they are: there is no mask."""
        del mask
        return outputs

    def allowed(self, action: Action, mask: Bool[Array, " choice"] | None) -> Bool[Array, ""]:
        """Always: there is no mask."""
        del action, mask
        return jnp.asarray(True)

    def none(self) -> Float[np.ndarray, " part"]:
        """A row that holds no numbers."""
        return np.full(self.num_parts, np.nan, np.float32)

    def is_none(self, action: Action) -> Bool[Array, ""]:
        """Whether a row is the one that `none` returns."""
        return jnp.any(jnp.isnan(action))

    def in_space(self, action: Num[Array, " part"]) -> Num[Array, "..."]:
        """The action with the shape of its space."""
        return action.reshape(self.box.shape)

    def to_environment(self, rows: Num[np.ndarray, "row part"]) -> Any:
        """An array of actions."""
        return self.box.to_environment(rows)

    def from_environment(self, action: Any) -> Float[np.ndarray, " part"]:
        """One action as a row; values outside the box are moved to its border."""
        return np.clip(np.ravel(action), self.box.low, self.box.high).astype(np.float32)

    def option_names(self) -> list[list[str]] | None:
        """The value of each option; None for a head without options."""
        sizes = self.option_sizes
        if sizes is None:
            return None
        table = self.from_options(np.stack([np.arange(max(sizes))] * len(sizes), axis=-1))
        return [
            [f"{value + 0.0:.3g}" for value in column[:size]]
            for column, size in zip(table.T.tolist(), sizes, strict=True)
        ]

    def flat_mask(self, given: Any) -> Bool[np.ndarray, " choice"]:
        """Refuse a mask."""
        raise UserError(f"actions that are real numbers cannot be masked, got the mask {given!r}")

    def to_info(self, mask: Bool[np.ndarray, " choice"]) -> dict[str, Any]:
        """Nothing: there is no mask."""
        del mask
        return {}

    def allowed_row(
        self,
        action: Num[np.ndarray, " part"],
        mask: Bool[np.ndarray, " choice"],
        rng: np.random.Generator,
    ) -> Num[np.ndarray, " part"]:
        """The action itself: there is no mask."""
        del mask, rng
        return action

    def changed_row(
        self, action: Num[np.ndarray, " part"], rng: np.random.Generator
    ) -> Num[np.ndarray, " part"]:
        """An action near the old one or, as often, any action."""
        anywhere, step = self.random_row(rng), rng.normal(size=self.num_parts)
        if rng.uniform() < 0.5:
            return anywhere
        lows, extents = self.box.lows(), self.box.extents()
        unit = np.clip((action - lows) / extents + NEARBY * step, 0.0, 1.0).astype(np.float32)
        return (lows + self.in_units(unit) * extents).astype(np.float32)
