"""The union front of all algorithms, and the contribution of each."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pcn.experiments.comparison.comparison import Comparison
from pcn.metrics import hypervolume
from pcn.pareto import rounded, unique_front


@dataclass(frozen=True)
class Contribution:
    """The contribution of one label to the union front, over all of its seeds."""

    label: str
    num_points: int
    """Points of the union front that it has."""
    num_alone: int
    """The points that no other label has."""
    hypervolume: float
    """The hypervolume of all executed returns of its seeds."""
    hypervolume_lost: float
    """The hypervolume that the union would lose without this label."""


@dataclass(frozen=True, eq=False)
class UnionFront:
    """The non-dominated points of all entrants, and the labels that have them."""

    labels: tuple[str, ...]
    points: Float[np.ndarray, "point objective"]
    owned: Bool[np.ndarray, "label point"]
    """Which label has which point; several can have the same one."""
    hypervolume: float
    contributions: tuple[Contribution, ...]

    def points_of(self, label: str) -> Float[np.ndarray, "own objective"]:
        """The points that a label has."""
        return self.points[self.owned[self.labels.index(label)]]


def union_front(comparison: Comparison) -> UnionFront | None:
    """The union front of executed returns; None where entrants are in different environments.

    Returns that are equal up to the largest tolerance of the runs are the same point.
    """
    if not comparison.has_one_front:
        return None
    tolerances = np.max(
        [
            entrant.run.coverage_set.tolerance_vector
            for entrant in comparison.entrants
            if entrant.run is not None
        ],
        axis=0,
    )
    labels = comparison.labels
    sets = [
        np.unique(np.concatenate([one.returns for one in comparison.of_label(label)]), axis=0)
        for label in labels
    ]
    everything = np.unique(np.concatenate(sets), axis=0)
    points = everything[unique_front(rounded(everything, tolerances))]
    owned = np.array(
        [_contains(rounded(one, tolerances), rounded(points, tolerances)) for one in sets]
    )
    volumes = [hypervolume(one, comparison.reference_point) for one in sets]
    whole = hypervolume(points, comparison.reference_point)
    contributions = []
    for number, label in enumerate(labels):
        others = [one for index, one in enumerate(sets) if index != number]
        rest = hypervolume(np.concatenate(others), comparison.reference_point) if others else 0.0
        alone = owned[number] & (owned.sum(axis=0) == 1)
        contributions.append(
            Contribution(
                label,
                int(owned[number].sum()),
                int(alone.sum()),
                volumes[number],
                max(whole - rest, 0.0),
            )
        )
    return UnionFront(tuple(labels), points, owned, whole, tuple(contributions))


def _contains(
    rows: Float[np.ndarray, "row objective"], points: Float[np.ndarray, "point objective"]
) -> Bool[np.ndarray, " point"]:
    """Which of the points are among the rows."""
    known = {tuple(row) for row in rows.tolist()}
    return np.array([tuple(point) in known for point in points.tolist()], dtype=bool)
