"""The interface of orders of returns: when one return is better than another."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float

from pcn.pareto.dominance import covered_mask, dominates, non_dominated_mask, rounded
from pcn.pareto.spread import Tolerances

Samples = Sequence[Float[np.ndarray, "_ objective"]]
"""The returns of each policy's executions."""

FINER = 1e-3
"""Criteria are rounded to this share of the tolerance, so that rounding errors of sums decide
nothing."""


class AbstractOrder(ABC):
    """An entry of `ORDERS`: a frozen dataclass whose fields are the options of the order.

    A return dominates another one when its `criteria` Pareto-dominate the other's. So every order
    has the same incremental bookkeeping, and Pareto dominance implies dominance in every order.
    """

    name: ClassVar[str]
    needs_one_unit: ClassVar[bool] = False
    """Whether objectives are compared with one another, so that they must have one unit."""
    compares_samples: ClassVar[bool] = False
    """Whether policies are compared by their single returns instead of their means."""

    @abstractmethod
    def criteria(
        self, returns: Float[np.ndarray, "point objective"]
    ) -> Float[np.ndarray, "point objective"]:
        """The numbers that are compared; they do not fall when any objective grows."""

    @abstractmethod
    def criteria_margins(
        self, margins: Float[np.ndarray, "*point objective"]
    ) -> Float[np.ndarray, "*point objective"]:
        """How far the criteria can move while each objective moves by no more than its margin."""

    def fine_criteria(
        self, returns: Float[np.ndarray, "point objective"], tolerances: Tolerances
    ) -> Float[np.ndarray, "point objective"]:
        """The criteria of returns, equal for returns that are equal up to the tolerances.

        Objectives are compared with one another, so all are rounded to multiples of the largest
        tolerance. Rounding errors of the arithmetic are removed as well.
        """
        if not self.needs_one_unit:
            return self.criteria(rounded(returns, tolerances))
        largest = float(np.max(tolerances))
        return rounded(self.criteria(rounded(returns, largest)), FINER * largest)

    def dominates(
        self, a: Float[np.ndarray, " objective"], b: Float[np.ndarray, " objective"]
    ) -> bool:
        """Whether the return `a` is better than `b`."""
        one, other = self.criteria(np.stack([a, b]))
        return dominates(one, other)

    def non_dominated_mask(
        self, returns: Float[np.ndarray, "point objective"], tolerances: Tolerances = 0.0
    ) -> Bool[np.ndarray, " point"]:
        """Mark the returns that no other one dominates, after rounding to the tolerances."""
        return non_dominated_mask(self.fine_criteria(returns, tolerances))

    def front_mask(
        self,
        means: Float[np.ndarray, "policy objective"],
        samples: Samples | None,
        tolerances: Tolerances,
    ) -> Bool[np.ndarray, " policy"]:
        """Mark the policies that no other one dominates, by their means or by their single
        returns."""
        del samples
        return self.non_dominated_mask(means, tolerances)

    def covered_mask(
        self,
        returns: Float[np.ndarray, "point objective"],
        front: Float[np.ndarray, "known objective"],
        tolerances: Tolerances,
    ) -> Bool[np.ndarray, " point"]:
        """Mark the returns that some return of `front` equals or dominates.

        Different returns with the same criteria are different trade-offs and do not count as
        covered.
        """
        covered = covered_mask(returns, front, tolerances=tolerances)
        slack = self.criteria_margins(np.broadcast_to(tolerances, returns.shape[1:]) + 0.0)
        own, known = self.criteria(returns), self.criteria(front)
        for row in np.flatnonzero(~covered):
            no_worse = np.all(known >= own[row] - slack, axis=1)
            covered[row] = np.any(no_worse & np.any(known > own[row] + slack, axis=1))
        return covered

    @property
    def description(self) -> str:
        """The order in words, with its options: `lambda-lorenz (weight 0.5)`."""
        content = self.to_json()
        chosen = {name: value for name, value in content.items() if isinstance(value, float)}
        values = [f"{name} {value:g}" for name, value in chosen.items()]
        if "scaled" in content:
            values.append("objectives as shares of the range seen")
        return f"{self.name} ({', '.join(values)})" if values else self.name

    @property
    def adjective(self) -> str:
        """The adjective for policies on the front."""
        return "non-dominated" if self.name == "pareto" else f"{self.name}-non-dominated"

    def to_json(self) -> dict[str, Any]:
        """As it stands in `metrics.json`; `order_from_json` reads it again."""
        fields = {
            item.name: getattr(self, item.name)
            for item in dataclasses.fields(self)  # type: ignore[arg-type]
        }
        return {"order": self.name, **fields}
