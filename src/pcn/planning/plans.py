"""Plans that can be followed: which action, and which vector of each successor comes next."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pcn.planning.model import TabularModel


@dataclass(frozen=True)
class Occupancy:
    """Where some plans are after a number of steps, one row for each plan and place."""

    plans: Int[np.ndarray, " place"]
    states: Int[np.ndarray, " place"]
    nodes: Int[np.ndarray, " place"]
    """Which promise the plan has to keep from here on; see `Plans`."""
    probabilities: Float[np.ndarray, " place"]

    def __len__(self) -> int:
        return len(self.plans)

    def likeliest(self, count: int) -> "Occupancy":
        """At most so many of the places, the likeliest."""
        if len(self) <= count:
            return self
        kept = np.sort(np.argsort(-self.probabilities, kind="stable")[:count])
        columns = (self.plans, self.states, self.nodes, self.probabilities)
        return Occupancy(*(column[kept] for column in columns))


@dataclass(frozen=True, eq=False)
class Plans:
    """One plan for each vector of expected return that is reached from the start.

    A node is a promise: a vector of expected return of one state with a number of steps left. It
    knows the action to take, and for each successor the node with which to go on.
    """

    model: TabularModel
    horizon: int
    work: int
    """About how many vectors were compared to make them."""
    vectors: Float[np.ndarray, "plan objective"]
    """The expected return of each plan from the start, in lexicographic order."""
    steps: Float[np.ndarray, " plan"]
    """The expected number of steps of each plan."""
    beginnings: Int[np.ndarray, " beginning"]
    """The states in which an episode may begin."""
    first_choices: Int[np.ndarray, "plan beginning"]
    """For each plan, the vector to pursue if the episode begins there."""
    bases: Int[np.ndarray, "left state"]
    """The first node of each state with 0, 1, … steps left; the last row holds for all beyond."""
    node_vectors: Float[np.ndarray, "node objective"]
    node_pairs: Int[np.ndarray, " node"]
    """The pair (state, action) of the model that each node takes; -1 at the end of an episode."""
    node_children: Int[np.ndarray, " boundary"]
    """Where the children of each node begin; the last one is the end."""
    children: Int[np.ndarray, " child"]
    """For each successor of a node's pair, the vector to pursue there."""

    def __len__(self) -> int:
        return len(self.vectors)

    def _base(self, left: int) -> Int[np.ndarray, " state"]:
        return self.bases[min(left, len(self.bases) - 1)]

    def beginning(self, plans: Int[np.ndarray, " chosen"]) -> Occupancy:
        """Where these plans are before the first step."""
        count = len(self.beginnings)
        states = np.tile(self.beginnings, len(plans))
        nodes = self._base(self.horizon)[states] + self.first_choices[plans].ravel()
        probabilities = np.tile(self.model.start[self.beginnings], len(plans))
        return Occupancy(np.repeat(plans, count), states, nodes, probabilities)

    def actions(self, occupancy: Occupancy) -> Int[np.ndarray, " place"]:
        """What the plans do there; -1 where the episode is over."""
        pairs = self.node_pairs[occupancy.nodes]
        if self.model.num_pairs == 0:
            return np.full(len(pairs), -1)
        return np.where(pairs >= 0, self.model.pair_actions[pairs], -1)

    def after(self, occupancy: Occupancy, time: int, *, least: float = 0.0) -> Occupancy:
        """Where the plans are after the action number `time`, counted from 0.

        Places of a plan with a probability up to `least` are left out.
        """
        model = self.model
        pairs = self.node_pairs[occupancy.nodes]
        going = np.flatnonzero(pairs >= 0)
        begin, end = model.pair_successors[pairs[going]], model.pair_successors[pairs[going] + 1]
        counts = end - begin
        row = np.repeat(going, counts)
        within = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        successors = model.successor_rows[np.repeat(begin, counts) + within]
        states = model.next_states[successors]
        chosen = self.children[self.node_children[occupancy.nodes[row]] + within]
        nodes = self._base(self.horizon - time - 1)[states] + chosen
        probabilities = occupancy.probabilities[row] * model.probabilities[successors]
        return _merged(occupancy.plans[row], states, nodes, probabilities, least)


def _merged(
    plans: Int[np.ndarray, " row"],
    states: Int[np.ndarray, " row"],
    nodes: Int[np.ndarray, " row"],
    probabilities: Float[np.ndarray, " row"],
    least: float,
) -> Occupancy:
    """One row for each plan, state and node, with the sum of its probabilities."""
    order = np.lexsort((nodes, states, plans))
    plans, states, nodes = plans[order], states[order], nodes[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(plans) != 0) | (np.diff(states) != 0) | (np.diff(nodes) != 0)
    first = np.flatnonzero(new)
    if len(first) == 0:
        return Occupancy(plans, states, nodes, probabilities)
    sums = np.add.reduceat(probabilities[order], first)
    first, sums = first[sums > least], sums[sums > least]
    return Occupancy(plans[first], states[first], nodes[first], sums)


def boundaries(counts: Sequence[int] | Int[np.ndarray, " node"]) -> Int[np.ndarray, " boundary"]:
    """Where each of some groups begins if all stand in one row; the last one is the end."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
