"""Lorenz dominance: fair returns are better, for objectives that are what different people get.

Michailidis, Röpke, Roijers, Ghebreab and Santos, Scalable Multi-Objective Reinforcement Learning
with Fairness Guarantees using Lorenz Dominance, JAIR 85, 2026, arXiv:2411.18195 (Lorenz Conditioned
Networks).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.checks import at_least, at_most
from pcn.pareto.orders.abstract import AbstractOrder


@dataclass(frozen=True)
class Lorenz(AbstractOrder):
    """A return dominates another one when its Lorenz vector Pareto-dominates the other's.

    The Lorenz vector holds the value of the worst-off objective, the sum of the two worst-off, and
    so on up to the sum of all. Moving value from one objective to a worse-off one is an
    improvement, and exchanging the values of two objectives changes nothing. The front is a part of
    the Pareto front.
    """

    name = "lorenz"
    needs_one_unit = True

    def criteria(
        self, returns: Float[np.ndarray, "point objective"]
    ) -> Float[np.ndarray, "point objective"]:
        """The Lorenz vectors: cumulative sums of the values in ascending order."""
        return np.cumsum(np.sort(returns, axis=1), axis=1)

    def criteria_margins(
        self, margins: Float[np.ndarray, "*point objective"]
    ) -> Float[np.ndarray, "*point objective"]:
        """Cumulative sums of the largest margins: the sum of the k worst moves by no more."""
        return np.cumsum(_descending(margins), axis=-1)


@dataclass(frozen=True)
class LambdaLorenz(AbstractOrder):
    """Between Lorenz dominance and Pareto dominance of the sorted values.

    With s(v) the values of v in ascending order and L(v) its Lorenz vector, v dominates w when
    `weight` s(v) + (1 - `weight`) L(v) Pareto-dominates the same of w (λ-Lorenz dominance of the
    paper; `weight` is its λ). 0 is Lorenz dominance. 1 is Pareto dominance of the sorted values:
    who has what does not matter, but nothing is redistributed. The larger, the larger the front.
    """

    weight: float = 0.5

    name = "lambda-lorenz"
    needs_one_unit = True

    def __post_init__(self) -> None:
        at_least(self, 0, "weight")
        at_most(self, 1, "weight")

    def criteria(
        self, returns: Float[np.ndarray, "point objective"]
    ) -> Float[np.ndarray, "point objective"]:
        """The weighted sum of the sorted values and their cumulative sums."""
        ascending = np.sort(returns, axis=1)
        return self.weight * ascending + (1 - self.weight) * np.cumsum(ascending, axis=1)

    def criteria_margins(
        self, margins: Float[np.ndarray, "*point objective"]
    ) -> Float[np.ndarray, "*point objective"]:
        """Every sorted value moves by no more than the largest margin; sums as for Lorenz."""
        largest = _descending(margins)
        return self.weight * largest[..., :1] + (1 - self.weight) * np.cumsum(largest, axis=-1)


def _descending(
    margins: Float[np.ndarray, "*point objective"],
) -> Float[np.ndarray, "*point objective"]:
    return np.sort(margins, axis=-1)[..., ::-1]
