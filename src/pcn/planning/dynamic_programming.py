"""Set-valued dynamic programming: all non-dominated expected returns of a tabular model.

For every state and every number of steps that are left, the vectors of expected return that some
plan reaches: mean reward plus the discounted, probability-weighted choices of one vector of each
successor (White 1982, doi:10.1016/0022-247X(82)90122-6).
"""

import numpy as np

from pcn.planning.model import TabularModel
from pcn.planning.plans import Plans, boundaries
from pcn.planning.vector_sets import Pruning, VectorSet, weighted_sum

_WORK_PER_PAIR = 200
"""What a pair of a state and an action costs at least, counted in vectors."""
_FAR = 4
"""How many times too much the expected work must be; steps get cheaper where sets settle."""


def plan(
    model: TabularModel,
    *,
    discount: float,
    horizon: int,
    most_vectors: int | None = None,
    tolerance: float = 1e-9,
    most_work: int | None = None,
) -> Plans:
    """The non-dominated expected returns from the start, and a plan for each.

    Planning goes backwards from the end of the episode. It stops early once nothing changes any
    more: plans for more steps are the same then.

    Args:
        model: what each action leads to.
        discount: factor on the return from the next step on.
        horizon: the number of steps after which every episode is over.
        most_vectors: how many vectors each state keeps; None for all of them, which is exact.
        tolerance: differences up to this share of an objective's largest mean reward are none.
        most_work: planning is broken off, and the plans' horizon is shorter, once about so many
            vectors have been compared or it is clear that they will be; None for never.
    """
    if horizon < 1:
        raise ValueError(f"horizon must be at least 1, got {horizon}")
    largest = np.abs(model.pair_rewards).max(axis=0, initial=0.0)
    pruning = Pruning(tolerance * np.where(largest > 0, largest, 1.0), most_vectors)
    programming = _Programming(model, discount, pruning)
    for step in range(1, horizon + 1):
        if not programming.step_back():
            break
        if most_work is not None and programming.exceeds(most_work, horizon - step):
            return programming.plans(step)
    return programming.plans(horizon)


class _Programming:
    """The sets of all states with a number of steps left, one step more at a time."""

    def __init__(self, model: TabularModel, discount: float, pruning: Pruning) -> None:
        self._model = model
        self._discount = discount
        self._pruning, self._loosely = pruning, pruning.loosely
        self.work = self._last_work = 0
        self._next = model.next_states[model.successor_rows]
        self._weights = model.probabilities[model.successor_rows]
        self._states = model.states[model.successor_rows]
        nothing = VectorSet(np.zeros((1, model.num_objectives)), np.zeros(1), np.full((1, 1), -1))
        self._sets = [nothing] * model.num_states
        self._keys = [pruning.keys(nothing.vectors)] * model.num_states
        self._changed = np.ones(model.num_states, dtype=bool)
        # All sets there ever were, one after the other; each state's latest one.
        self._all = [nothing]
        self._num_nodes = 1
        self._bases = [np.zeros(model.num_states, dtype=np.int64)]

    def step_back(self) -> bool:
        """Plan for one step more; returns whether any state's vectors have changed."""
        model, work_before = self._model, self.work
        if len(self._bases) == 1:
            due = np.unique(model.pair_states)
        else:
            due = np.unique(self._states[self._changed[self._next]])
        bases = self._bases[-1].copy()
        changed = np.zeros(model.num_states, dtype=bool)
        # Sets are replaced together: all refer to the successors' sets of one step less.
        sets = {int(state): self._set_of(int(state)) for state in due}
        for state, one in sets.items():
            keys = self._pruning.keys(one.vectors)
            changed[state] = not np.array_equal(keys, self._keys[state])
            self._sets[state], self._keys[state] = one, keys
            bases[state] = self._num_nodes
            self._all.append(one)
            self._num_nodes += len(one)
        self.work += _WORK_PER_PAIR * int(np.diff(model.state_pairs)[due].sum())
        self._last_work = self.work - work_before
        self._changed = changed
        self._bases.append(bases)
        return bool(changed.any())

    def exceeds(self, most_work: int, steps_left: int) -> bool:
        """Whether the work is too much, or will be far too much if further steps are like this."""
        return self.work > most_work or self._last_work * steps_left > _FAR * most_work

    def _set_of(self, state: int) -> VectorSet:
        """The vectors of a state; choices are the pair and the vector of each successor."""
        model = self._model
        parts = []
        for pair in range(*model.state_pairs[state : state + 2].tolist()):
            begin, end = model.pair_successors[pair : pair + 2].tolist()
            reward = model.pair_rewards[pair]
            if begin == end:
                parts.append(VectorSet(reward[None], np.ones(1), np.array([[pair]])))
                continue
            after = weighted_sum(
                [self._sets[successor] for successor in self._next[begin:end]],
                self._weights[begin:end],
                self._loosely_pruned,
            )
            vectors = reward + self._discount * after.vectors
            pairs = np.full((len(after), 1), pair)
            parts.append(VectorSet(vectors, 1.0 + after.steps, np.hstack([pairs, after.choices])))
        return self._pruning(_together(parts))

    def _loosely_pruned(self, given: VectorSet) -> VectorSet:
        self.work += len(given)
        return self._loosely(given)

    def plans(self, horizon: int) -> Plans:
        """What has been planned, ready to be followed."""
        beginnings = np.flatnonzero(self._model.start)
        start = weighted_sum(
            [self._sets[state] for state in beginnings],
            self._model.start[beginnings],
            self._pruning,
        )
        start = self._pruning(start)
        counts = [one.choices.shape[1] - 1 for one in self._all for _ in range(len(one))]
        return Plans(
            model=self._model,
            horizon=horizon,
            work=self.work,
            vectors=start.vectors,
            steps=start.steps,
            beginnings=beginnings,
            first_choices=start.choices,
            bases=np.stack(self._bases),
            node_vectors=np.concatenate([one.vectors for one in self._all]),
            node_pairs=np.concatenate([one.choices[:, 0] for one in self._all]),
            node_children=boundaries(counts),
            children=np.concatenate([one.choices[:, 1:].ravel() for one in self._all]),
        )


def _together(parts: list[VectorSet]) -> VectorSet:
    """One set of all vectors; choices are padded with -1 to the longest."""
    if len(parts) == 1:
        return parts[0]
    width = max(part.choices.shape[1] for part in parts)
    choices = np.full((sum(map(len, parts)), width), -1)
    begin = 0
    for part in parts:
        choices[begin : begin + len(part), : part.choices.shape[1]] = part.choices
        begin += len(part)
    return VectorSet(
        np.concatenate([part.vectors for part in parts]),
        np.concatenate([part.steps for part in parts]),
        choices,
    )
