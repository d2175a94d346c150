"""Plans on a lattice: the best action at every node for many weights of the objectives."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from pcn.planning.fitted_model import FittedModel

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_DENSE = 64
"""So many last steps have actions of their own; before them, actions are kept now and then."""
_SETTLED = 32
"""Actions that have not changed for so many steps do not change any more."""


@dataclass(frozen=True, eq=False)
class LatticePlans:
    """What each plan does at every node with so many steps left; one plan for each weight."""

    model: FittedModel
    horizon: int
    lefts: Int[np.ndarray, " kept"]
    """The numbers of steps left for which actions are kept, in increasing order."""
    options: Int[np.ndarray, "kept place plan"]
    """The action at each node that is known, and in the last row anything."""
    rows: Int[np.ndarray, " node"]
    """The row of each node in `options`; the last one for nodes where no action is known."""
    values: Float[np.ndarray, "kept place plan"]
    """What the weighted return is worth after the step that is planned."""
    rewards: Float[np.ndarray, "known option plan"]
    """The weighted reward of every action at each node that is known."""
    successors: "csr_matrix"
    discount: float

    def __len__(self) -> int:
        return self.options.shape[2]

    def taking(self, index: Int[np.ndarray, " kept"]) -> "LatticePlans":
        """Some of the plans."""
        return LatticePlans(
            self.model,
            self.horizon,
            self.lefts,
            self.options[..., index],
            self.rows,
            self.values[..., index],
            self.rewards[..., index],
            self.successors,
            self.discount,
        )

    def shortfalls(
        self,
        plans: Int[np.ndarray, " episode"],
        places: Float[np.ndarray, "episode number"],
        time: int,
    ) -> Float[np.ndarray, "episode option"]:
        """How much less each action is worth than the best one, zero where nothing is known.

        It is a share of what the best and the worst place differ in worth.
        """
        kept = max(int(np.searchsorted(self.lefts, self.horizon - time, side="right")) - 1, 0)
        after = np.float32(self.discount) * (self.successors @ self.values[kept])
        outcome = self.rewards + after.reshape(self.rewards.shape)
        best = outcome.max(axis=1)
        extent = np.maximum(np.ptp(best, axis=0), 1e-12)
        nodes, shares = self.model.lattice.corners(places)
        shares = np.where(self.rows[nodes] == len(outcome), -1.0, shares)
        corner = shares.argmax(axis=1)[:, None]
        row = self.rows[np.take_along_axis(nodes, corner, axis=1)[:, 0]]
        result = np.zeros((len(plans), self.model.num_options))
        known = np.flatnonzero(shares.max(axis=1) > 0)
        row, plan = row[known], plans[known]
        result[known] = (best[row, plan][:, None] - outcome[row, :, plan]) / extent[plan][:, None]
        return result

    def chosen(
        self,
        plans: Int[np.ndarray, " episode"],
        places: Float[np.ndarray, "episode number"],
        time: int,
    ) -> Int[np.ndarray, " episode"]:
        """What the plans do at these places: what most of the nodes around say."""
        kept = int(np.searchsorted(self.lefts, self.horizon - time, side="right")) - 1
        nodes, shares = self.model.lattice.corners(places)
        rows = self.rows[nodes]
        shares = np.where(rows == self.options.shape[1] - 1, 1e-9, shares)
        votes = np.zeros((len(plans), self.model.num_options))
        episode = np.arange(len(plans))
        for corner in range(rows.shape[1]):
            option = self.options[max(kept, 0), rows[:, corner], plans]
            votes[episode, option] += shares[:, corner]
        return votes.argmax(axis=1)


def plan_on_lattice(
    model: FittedModel,
    weights: Float[np.ndarray, "plan objective"],
    *,
    discount: float,
    horizon: int,
) -> LatticePlans:
    """The best plan for each of these weights, by dynamic programming from the end backwards.

    Actions that are not known at a node are never taken there, and places where nothing is known
    are as bad as the worst reward from then on.
    """
    known = np.flatnonzero(model.known.any(axis=1))
    rows = np.full(len(model.lattice), len(known))
    rows[known] = np.arange(len(known))
    successors = _successors(model, known, rows)
    shape = (len(known), model.num_options, len(weights))
    reward = np.einsum("nao,po->nap", model.rewards[known], weights).astype(np.float32)
    reward[~model.known[known]] = -np.inf
    worst = np.where(np.isfinite(reward), reward, np.inf).min(axis=(0, 1), initial=0.0)
    values = np.zeros((len(known) + 1, len(weights)), np.float32)
    kind = np.int8 if model.num_options <= 128 else np.int16
    lefts: list[int] = []
    kept: list[Int[np.ndarray, "place plan"]] = []
    worth: list[Float[np.ndarray, "place plan"]] = []
    settled = 0
    for left in range(1, horizon + 1):
        outcome = reward + np.float32(discount) * (successors @ values).reshape(shape)
        best, before = outcome.argmax(axis=1), values.copy()
        values[:-1] = np.take_along_axis(outcome, best[:, None], axis=1)[:, 0]
        values[-1] = worst + np.float32(discount) * values[-1]
        settled = settled + 1 if kept and np.array_equal(best, kept[-1][:-1]) else 0
        if left <= _DENSE or left % (left // _DENSE + 1) == 0:
            lefts.append(left)
            worth.append(before)
            kept.append(np.vstack([best, np.zeros_like(best[:1])]).astype(kind))
        if settled > _SETTLED:
            break
    return LatticePlans(
        model,
        horizon,
        np.array(lefts),
        np.stack(kept),
        rows,
        np.stack(worth),
        reward,
        successors,
        discount,
    )


def _successors(
    model: FittedModel, known: Int[np.ndarray, " place"], rows: Int[np.ndarray, " node"]
) -> "csr_matrix":
    """How likely each known node and action leads on to each row, as shares of interpolation."""
    from scipy.sparse import csr_matrix  # few trainings need it, and it takes a while

    places = model.lattice.nodes[known][:, None, None] + model.changes[known][:, :, None]
    nodes, shares = model.lattice.corners(places + model.noise[known])
    going_on = (1.0 - model.ends[known])[:, :, None, None] / model.noise.shape[2]
    pairs = np.arange(len(known) * model.num_options).reshape(len(known), -1, 1, 1)
    chances = (shares * going_on).astype(np.float32)
    return csr_matrix(
        (chances.ravel(), (np.broadcast_to(pairs, nodes.shape).ravel(), rows[nodes].ravel())),
        shape=(len(known) * model.num_options, len(known) + 1),
    )
