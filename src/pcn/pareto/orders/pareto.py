"""Pareto dominance: at least as good in every objective, and better in one (paper, Eq. 2)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pcn.pareto.dominance import covered_mask
from pcn.pareto.orders.abstract import AbstractOrder
from pcn.pareto.spread import Tolerances


@dataclass(frozen=True)
class Pareto(AbstractOrder):
    """The order of the paper: objectives are compared one by one, never with one another."""

    name = "pareto"

    def criteria(
        self, returns: Float[np.ndarray, "point objective"]
    ) -> Float[np.ndarray, "point objective"]:
        """The objectives themselves."""
        return returns

    def criteria_margins(
        self, margins: Float[np.ndarray, "*point objective"]
    ) -> Float[np.ndarray, "*point objective"]:
        """The margins themselves."""
        return margins

    def covered_mask(
        self,
        returns: Float[np.ndarray, "point objective"],
        front: Float[np.ndarray, "known objective"],
        tolerances: Tolerances,
    ) -> Bool[np.ndarray, " point"]:
        """Mark the returns that some return of `front` equals or dominates."""
        return covered_mask(returns, front, tolerances=tolerances)
