"""Planning for weighted sums of objectives: one plan for each of many weights.

Where set-valued dynamic programming would take too long, ordinary dynamic programming for a fixed
number of weights does not: its work grows with the number of weights, not with the sets. It finds
the plans of the convex hull only, trade-offs between two of its corners are left out.
"""

import numpy as np
from jaxtyping import Float

from pcn.pareto import spread_out
from pcn.planning.model import TabularModel
from pcn.planning.plans import Plans, boundaries
from pcn.planning.vector_sets import Pruning, VectorSet

_SETTLED = 1e-9
"""Values that change by no more than this share of the largest one do not change any more."""
_LEAST_WEIGHT = 1e-3
"""Of every objective, so that of two plans equal in the others the better one is taken."""


def plan_for_weights(
    model: TabularModel,
    *,
    discount: float,
    horizon: int,
    num_weights: int,
    most_nodes: int,
    tolerance: float = 1e-9,
) -> Plans:
    """The best plan for each of many weights of the objectives; dominated plans are left out.

    Where there is no room for all of them, those are kept whose returns lie farthest apart. A plan
    that does not look ahead to the end of the episode is worth less than no plan.

    Args:
        model: what each action leads to.
        discount: factor on the return from the next step on.
        horizon: the number of steps after which every episode is over.
        num_weights: how many weights, the single objectives included.
        most_nodes: how many pairs of a state and a plan are remembered, for all steps together.
            Planning is broken off, and the plans' horizon is shorter, if these are too few for as
            many plans as there are objectives.
        tolerance: differences up to this share of an objective's largest mean reward are none.
    """
    if horizon < 1:
        raise ValueError(f"horizon must be at least 1, got {horizon}")
    largest = np.abs(model.pair_rewards).max(axis=0, initial=0.0)
    largest = np.where(largest > 0, largest, 1.0)
    single = spread_weights(model.num_objectives, model.num_objectives) / largest
    extremes = _Programming(model, discount, single).run(horizon).beginning()[0]
    extent = np.ptp(extremes, axis=0)
    weights = spread_weights(model.num_objectives, num_weights) / np.where(extent > 0, extent, 1)
    pruning = Pruning(tolerance * largest)
    room = max(model.num_objectives, most_nodes // (model.num_states * (horizon + 1)))
    if room < len(weights):
        vectors, steps = _Programming(model, discount, weights).run(horizon).beginning()
        best = pruning(VectorSet(vectors, steps, np.arange(len(weights))[:, None]))
        weights = weights[best.choices[spread_out(best.vectors, room), 0]]
    return _Programming(model, discount, weights).run(horizon, most_nodes).plans(pruning)


def spread_weights(num_objectives: int, count: int) -> Float[np.ndarray, "weight objective"]:
    """The single objectives first, then weights all over the simplex; the same in every call."""
    corners = np.eye(num_objectives)[:count]
    missing = max(0, count - num_objectives)
    if num_objectives == 2:
        share = np.arange(1, missing + 1)[:, None] / (missing + 1)
        others = np.hstack([share, 1 - share])
    else:
        others = np.random.default_rng(0).dirichlet(np.ones(num_objectives), size=missing)
    return np.maximum(np.concatenate([corners, others]), _LEAST_WEIGHT)


class _Programming:
    """The value of every state under the best plan of each weight, one step more at a time."""

    def __init__(
        self, model: TabularModel, discount: float, weights: Float[np.ndarray, "weight objective"]
    ) -> None:
        self._model = model
        self._discount = discount
        self._weights = weights
        self._next = model.next_states[model.successor_rows]
        self._probabilities = model.probabilities[model.successor_rows]
        self._going = np.flatnonzero(np.diff(model.pair_successors))  # pairs with successors
        self._acting = np.flatnonzero(np.diff(model.state_pairs))  # states with actions
        shape = (model.num_states, len(weights))
        # The last column counts steps.
        self._values = np.zeros((*shape, model.num_objectives + 1))
        self._pairs = [np.full(shape, -1)]
        self._vectors = [self._values[..., :-1]]
        self._horizon = 0

    def run(self, horizon: int, most_nodes: int | None = None) -> "_Programming":
        """Plan for so many steps; fewer if nothing changes or there is no room.

        Without a number of nodes only the values are remembered, and there are no plans.
        """
        for _ in range(horizon):
            before = self._values
            self._step_back()
            if most_nodes is None:
                del self._pairs[1:], self._vectors[1:]
            size = np.abs(self._values).max(axis=(0, 1))
            change = np.abs(self._values - before).max(axis=(0, 1))
            num_nodes = len(self._pairs) * self._pairs[0].size
            self._horizon += 1
            if np.all(change <= _SETTLED * size):
                self._horizon = horizon
                break
            if most_nodes is not None and num_nodes > most_nodes:
                break
        return self

    def _step_back(self) -> None:
        model = self._model
        reward = np.column_stack([model.pair_rewards, np.ones(model.num_pairs)])
        later = np.zeros((model.num_pairs, *self._values.shape[1:]))
        if len(self._going):
            weighted = self._probabilities[:, None, None] * self._values[self._next]
            begin = model.pair_successors[self._going]
            later[self._going] = np.add.reduceat(weighted, begin, axis=0)
        later[..., :-1] *= self._discount
        outcome = reward[:, None] + later
        score = np.einsum("pko,ko->pk", outcome[..., :-1], self._weights)
        begin = model.state_pairs[self._acting]
        counts = np.diff(model.state_pairs)[self._acting]
        best = np.repeat(np.maximum.reduceat(score, begin, axis=0), counts, axis=0)
        equal = score >= best - _SETTLED * np.abs(best)
        steps = np.where(equal, outcome[..., -1], np.inf)
        fewest = np.repeat(np.minimum.reduceat(steps, begin, axis=0), counts, axis=0)
        place = np.arange(model.num_pairs)[:, None]
        chosen = np.where(steps == fewest, place, model.num_pairs)
        pairs = np.full(self._pairs[0].shape, -1)
        pairs[self._acting] = np.minimum.reduceat(chosen, begin, axis=0)
        values = np.zeros_like(self._values)
        values[self._acting] = outcome[pairs[self._acting], np.arange(len(self._weights))]
        self._values = values
        self._pairs.append(pairs)
        self._vectors.append(values[..., :-1])

    def beginning(
        self,
    ) -> tuple[Float[np.ndarray, "weight objective"], Float[np.ndarray, " weight"]]:
        """The expected return from the start under each weight, and the expected steps."""
        mean = np.einsum("s,sko->ko", self._model.start, self._values)
        return mean[:, :-1], mean[:, -1]

    def plans(self, pruning: Pruning) -> Plans:
        """What has been planned, ready to be followed."""
        model, num_weights = self._model, len(self._weights)
        vectors, steps = self.beginning()
        start = pruning(VectorSet(vectors, steps, np.arange(num_weights)[:, None]))
        beginnings = np.flatnonzero(model.start)
        pairs = np.concatenate([one.ravel() for one in self._pairs])
        num_successors = np.append(np.diff(model.pair_successors), 0)[pairs]  # -1 has none
        rows = np.arange(len(self._pairs))[:, None] * model.num_states
        return Plans(
            model=model,
            horizon=self._horizon,
            work=len(pairs),
            vectors=start.vectors,
            steps=start.steps,
            beginnings=beginnings,
            first_choices=np.tile(start.choices, len(beginnings)),
            bases=(rows + np.arange(model.num_states)) * num_weights,
            node_vectors=np.concatenate([one.reshape(-1, one.shape[2]) for one in self._vectors]),
            node_pairs=pairs,
            node_children=boundaries(num_successors),
            children=np.repeat(np.arange(len(pairs)) % num_weights, num_successors),
        )
