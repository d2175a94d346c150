"""An order of scaled returns, so that objectives of different units can be compared."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pcn.pareto.orders.abstract import AbstractOrder
from pcn.pareto.spread import Tolerances


@dataclass(frozen=True)
class Scaled(AbstractOrder):
    """Another order, of returns measured as shares of a range in each objective."""

    order: AbstractOrder
    lowest: tuple[float, ...]
    """The return that counts as zero."""
    extents: tuple[float, ...]
    """The length that counts as one; zero, for an objective that never varies, is replaced by
    one."""

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the inner order."""
        return self.order.name

    def criteria(
        self, returns: Float[np.ndarray, "point objective"]
    ) -> Float[np.ndarray, "point objective"]:
        """The criteria of the scaled returns."""
        return self.order.criteria(self._scaled(returns))

    def criteria_margins(
        self, margins: Float[np.ndarray, "*point objective"]
    ) -> Float[np.ndarray, "*point objective"]:
        """The margins of the scaled criteria."""
        return self.order.criteria_margins(margins / self._units)

    def fine_criteria(
        self, returns: Float[np.ndarray, "point objective"], tolerances: Tolerances
    ) -> Float[np.ndarray, "point objective"]:
        """The fine criteria of the scaled returns and tolerances."""
        return self.order.fine_criteria(self._scaled(returns), np.asarray(tolerances) / self._units)

    def _scaled(
        self, returns: Float[np.ndarray, "point objective"]
    ) -> Float[np.ndarray, "point objective"]:
        return (returns - np.asarray(self.lowest)) / self._units

    @property
    def _units(self) -> Float[np.ndarray, " objective"]:
        extents = np.asarray(self.extents)
        return np.where(extents > 0, extents, 1.0)

    def to_json(self) -> dict[str, Any]:
        """The inner order, and the scales."""
        scaled = {"lowest": list(self.lowest), "extents": list(self.extents)}
        return {**self.order.to_json(), "scaled": scaled}
