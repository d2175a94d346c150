"""The problem that returns are measured against, and the common interface of metrics."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from pcn.metrics.front_share import SMALL_SHARE
from pcn.pareto import PARETO, AbstractOrder, Tolerances, tolerances_for


@dataclass(frozen=True, eq=False)
class Problem:
    """The properties of an environment that metrics need; only the reference point is required."""

    reference_point: Float[np.ndarray, " objective"]
    """The point that hypervolume is measured from."""
    front: Float[np.ndarray, "front objective"] | None = None
    """The true front, where it is known."""
    ideal: Float[np.ndarray, " objective"] | None = None
    """The best value of each objective by itself; where it is not given, the front's."""

    tolerances: Tolerances | None = None
    """Returns closer than this in each objective are the same. The default is a small share of the
    front's spread, or zero if the front is not known."""
    order: AbstractOrder = PARETO
    """The order that decides which return is better, for metrics that count non-dominated
    returns."""
    one_unit: bool = False
    """Whether objectives share a unit, as measures of fairness require."""

    def __post_init__(self) -> None:
        if self.ideal is None and self.front is not None:
            object.__setattr__(self, "ideal", self.front.max(axis=0))
        if self.tolerances is None:
            known = 0.0 if self.front is None else tolerances_for(self.front, SMALL_SHARE)
            object.__setattr__(self, "tolerances", known)

    @property
    def known_tolerances(self) -> Tolerances:
        """Returns closer than this in each objective are the same."""
        assert self.tolerances is not None, "set with the problem"
        return self.tolerances

    @property
    def known_front(self) -> Float[np.ndarray, "front objective"]:
        """The true front; an error if it is not known."""
        if self.front is None:
            raise ValueError("this metric needs the true front, and the problem has none")
        return self.front

    def gains(
        self, returns: Float[np.ndarray, "point objective"]
    ) -> Float[np.ndarray, "point objective"]:
        """How much more than the reference point each objective gets; at least zero.

        An error if the objectives have no common unit.
        """
        if not self.one_unit:
            raise ValueError("this metric needs objectives of one unit, and the problem has none")
        return np.maximum(returns - self.reference_point, 0.0)

    @property
    def known_ideal(self) -> Float[np.ndarray, " objective"]:
        """The ideal; an error if it is not known."""
        if self.ideal is None:
            raise ValueError(
                "this metric needs an ideal or the true front, the problem has neither"
            )
        return self.ideal


@dataclass(frozen=True)
class Metric:
    """An entry of `METRICS`: an indicator, called as `metric(returns, problem)`."""

    measure: Callable[[Float[np.ndarray, "point objective"], Problem], float]
    higher_is_better: bool
    needs: Literal["front", "ideal", "one_unit"] | None = None
    """The properties that the problem must have besides its reference point."""

    def measurable_on(self, problem: Problem) -> bool:
        """Whether the problem has the properties that this metric needs."""
        known = True if self.needs is None else getattr(problem, self.needs)
        if self.needs == "ideal" and known is not None:
            return bool(np.all(known > problem.reference_point))
        return known is not None and known is not False

    def __call__(self, returns: Float[np.ndarray, "point objective"], problem: Problem) -> float:
        """The indicator's value."""
        return self.measure(returns, problem)
