"""Preferences: trade-offs get attention by how many would prefer them, not by how many are alike.

The paper asks for every non-dominated return alike. Where outcomes are stochastic, these are the
luckiest of many, and most may be alike: on mountain-car a dozen ways to stay in the valley stand
beside one that reaches the flag from a lucky start. A network that is asked for it once in twelve
episodes, and from a start that does not allow it, does not learn to reach the flag.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.planning import may_plan
from pcn.algorithms.pcn.rows import Archive
from pcn.algorithms.pcn.training import Training
from pcn.checks import at_least, positive
from pcn.envs.spec import EnvironmentSpec
from pcn.pareto import preferred_shares


@dataclass(frozen=True, kw_only=True)
class Preferences(AbstractRefinement):
    """Ask for, vary and learn the best few episodes for each of many random preferences.

    Only in stochastic environments whose transitions cannot be counted and planned with.
    """

    best: int = 8
    """How many stored episodes share a preference: the best one alone may have been lucky."""
    width: float = 0.1
    """An episode gets e times less for so much more loss, as a share of the objectives' ranges."""

    def __post_init__(self) -> None:
        at_least(self, 1, "best")
        positive(self, "width")

    def applies_to(self, spec: EnvironmentSpec) -> bool:
        """Only where the same actions can have different outcomes."""
        return not spec.deterministic

    def favourites(self, training: Training) -> tuple[Archive, Float[np.ndarray, " point"]] | None:
        """The episodes that some preference finds among the best, and how many do."""
        if may_plan(training):
            return None
        rows = training.dataset.rows
        criteria = training.dataset.order.criteria(rows.returns)
        preferred = preferred_shares(criteria, best=self.best, width=self.width)
        index = np.flatnonzero(preferred)
        return Archive(rows.taking(index)), preferred[index]
