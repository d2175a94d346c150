"""Bounded commands: desired returns stay within what the network has seen in training."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.training import Training
from pcn.checks import finite_numbers
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError


@dataclass(frozen=True, kw_only=True)
class BoundedCommands(AbstractRefinement):
    """Keep desired returns below the largest return-to-go of the dataset (authors: fixed bounds).

    Commands stay among the inputs that the network was trained on. With a discount, where rounding
    errors grow, they stay above the smallest return-to-go as well.
    """

    upper_bound: tuple[float, ...] | None = None
    """Largest desired return, a number for each objective; from the data if not given."""

    def __post_init__(self) -> None:
        finite_numbers(self, "upper_bound")

    def check(self, spec: EnvironmentSpec) -> None:
        """Refuse a bound with another number of objectives."""
        given = self.upper_bound
        if given is not None and len(given) != spec.num_objectives:
            raise UserError(f"upper_bound has {len(given)} numbers, expected {spec.num_objectives}")

    def bound_on_returns(self, training: Training) -> Float[np.ndarray, " objective"]:
        """As given, or the largest stored return-to-go."""
        if self.upper_bound is not None:
            return np.asarray(self.upper_bound, dtype=np.float64)
        return training.dataset.rows.highest.max(axis=0)

    def lower_bound_on_returns(self, training: Training) -> Float[np.ndarray, " objective"] | None:
        """The smallest stored return-to-go; without a discount nothing grows, as in the paper."""
        if training.config.discount == 1.0:
            return None
        return training.dataset.rows.lowest.min(axis=0)
