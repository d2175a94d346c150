"""Geometry of return vectors: dominance, crowding, scores, representative subsets. No RL here."""

from pcn.pareto.choosing import best_first, spread_out
from pcn.pareto.compromise import Balanced, Knee, balanced, knee, nearest_point, shares, unit_ranges
from pcn.pareto.crowding import crowding_distance
from pcn.pareto.dominance import (
    DominanceCounts,
    covered_mask,
    dominates,
    non_dominated_mask,
    num_earlier_copies,
    rounded,
    unique_front,
)
from pcn.pareto.dominating_score import dominating_score
from pcn.pareto.lattice import AUTHORS_INTERVALS, lattice_points, num_lattice_points
from pcn.pareto.orders import (
    ORDERS,
    PARETO,
    AbstractOrder,
    LambdaLorenz,
    Lorenz,
    Pareto,
    Samples,
    Scaled,
    Stochastic,
    order_from_json,
    survival_gaps,
)
from pcn.pareto.scoreboard import Scoreboard
from pcn.pareto.spread import Tolerances, has_changed, spread, tolerances_for

__all__ = [
    "AUTHORS_INTERVALS",
    "ORDERS",
    "PARETO",
    "AbstractOrder",
    "Balanced",
    "DominanceCounts",
    "Knee",
    "LambdaLorenz",
    "Lorenz",
    "Pareto",
    "Samples",
    "Scaled",
    "Scoreboard",
    "Stochastic",
    "Tolerances",
    "balanced",
    "best_first",
    "covered_mask",
    "crowding_distance",
    "dominates",
    "dominating_score",
    "has_changed",
    "knee",
    "lattice_points",
    "nearest_point",
    "non_dominated_mask",
    "num_earlier_copies",
    "num_lattice_points",
    "order_from_json",
    "rounded",
    "shares",
    "spread",
    "spread_out",
    "survival_gaps",
    "tolerances_for",
    "unique_front",
    "unit_ranges",
]
