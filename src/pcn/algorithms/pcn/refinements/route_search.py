"""Route search: which returns a model of actions promises, and how to get them.

Labels are set from event to event: a label says that a state can be reached by a certain time with
a certain return so far. Of the labels of one state, those that are neither better nor earlier than
another are dropped: whatever follows could follow the other as well. Where there are too many, some
are kept: the best for various weights of the objectives and of time, and others by chance.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.algorithms.pcn.refinements.route_graph import RouteGraph
from pcn.pareto import covered_mask, unique_front

NOTHING = 1e-9
"""Differences of returns that rounding can make."""


@dataclass(frozen=True)
class Way:
    """A known episode up to one of its events."""

    states: Int[np.ndarray, " event"]
    """The state after each event."""
    times: Int[np.ndarray, " event"]
    """The number of steps up to each event."""
    returns: Float[np.ndarray, "event objective"]
    """The return up to each event."""
    actions: Int[np.ndarray, " time"]


@dataclass(frozen=True)
class Step:
    """How a label is reached from the one before: by these steps, or to a place and one on."""

    parent: int
    actions: tuple[int, ...] | None
    start: int = 0
    end: int = 0
    action: int = 0


class Found:
    """What a search found: promised returns, and how each is reached."""

    def __init__(self, graph: RouteGraph, num_objectives: int) -> None:
        self._graph = graph
        self._steps: list[Step] = [Step(-1, ())]
        self.returns = np.zeros((0, num_objectives))
        """What the routes that come to an end promise."""
        self._ends: list[Step] = []
        self.unfamiliar: list[Step] = []
        """Routes to steps of which little is known."""

    def __len__(self) -> int:
        return len(self._steps)

    def add_label(self, step: Step) -> int:
        """Number a label."""
        self._steps.append(step)
        return len(self._steps) - 1

    def add_ends(self, returns: Float[np.ndarray, "end objective"], ends: list[Step]) -> None:
        """Note routes that come to an end."""
        self.returns = np.concatenate([self.returns, returns])
        self._ends += ends

    def route(self, number: int) -> Int[np.ndarray, " time"]:
        """The actions of one of the routes that come to an end."""
        return self.actions(self._ends[number])

    def actions(self, step: Step) -> Int[np.ndarray, " time"]:
        """All actions from the start on."""
        parts: list[list[int]] = []
        while True:
            if step.actions is None:
                parts.append([*self._graph.way(step.start, step.end), step.action])
            else:
                parts.append(list(step.actions))
            if step.parent < 0:
                break
            step = self._steps[step.parent]
        return np.array([action for part in parts[::-1] for action in part], np.int64)


@dataclass(frozen=True)
class Labels:
    """States that can be reached after a number of events."""

    numbers: Int[np.ndarray, " label"]
    states: Int[np.ndarray, " label"]
    times: Int[np.ndarray, " label"]
    returns: Float[np.ndarray, "label objective"]


@dataclass(frozen=True, kw_only=True)
class RouteSearch:
    """How routes are searched for; see the fields."""

    graph: RouteGraph
    discount: float
    step_limit: int
    beam: int
    """Most labels that are kept after each event, those of known episodes aside."""
    labels_per_state: int
    """Most labels of one state that a new label is compared with."""
    num_weights: int
    """For how many random weights of the objectives and of time the best labels are kept."""
    patience: int
    """The search ends when so many events more have brought no better return."""
    gain: Float[np.ndarray, " objective"]
    """What a better return has to be better by, for that."""

    def run(
        self,
        start: int,
        ways: list[Way],
        front: Float[np.ndarray, "point objective"],
        rng: np.random.Generator,
    ) -> Found:
        """Search from the start and from everything on known ways."""
        num_objectives = front.shape[1]
        found = Found(self.graph, num_objectives)
        seen = SeenLabels(num_objectives + 1, self.labels_per_state)
        first = np.zeros(1, np.int64)
        labels = Labels(first, first + start, first, np.zeros((1, num_objectives)))
        last_gain = num_events = 0
        on_ways = [0] * len(ways)
        while len(labels.numbers) and num_events <= last_gain + self.patience:
            returns, rows, edges, ended = self._followed(labels, found)
            new = ~covered_mask(returns[ended], front, tolerance=NOTHING)
            if new.any():
                index = np.flatnonzero(ended)[new]
                index = index[unique_front(returns[index])]
                if not covered_mask(returns[index] - self.gain, front).all():
                    last_gain = num_events
                found.add_ends(returns[index], [self._step(labels, rows, edges, i) for i in index])
                front = np.concatenate([front, returns[index]])
            num_events += 1
            index = np.flatnonzero(~ended)
            states, times = edges.after[index], edges.times[index]
            kept = self._kept(states, times, returns[index], seen, rng)
            numbers = [
                found.add_label(self._step(labels, rows, edges, i)) for i in index[kept].tolist()
            ]
            labels = Labels(np.array(numbers, np.int64), states[kept], times[kept], returns[index[kept]])
            labels = self._joined(labels, ways, on_ways, num_events, found, seen)
            if any(len(way.states) > num_events for way in ways):
                last_gain = max(last_gain, num_events - self.patience)
        return found

    def _followed(self, labels: Labels, found: Found):
        """Every label followed by every event that can be reached from it."""
        reaches = self.graph.reaches(labels.states)
        counts = np.array([len(reach.after) for reach in reaches])
        rows = np.repeat(np.arange(len(reaches)), counts)
        distances = np.concatenate([reach.distances for reach in reaches])
        edges = Edges(
            np.concatenate([reach.places for reach in reaches]),
            np.concatenate([reach.actions for reach in reaches]),
            np.concatenate([reach.after for reach in reaches]),
            labels.times[rows] + distances + 1,
        )
        rewards = np.concatenate([reach.rewards for reach in reaches])
        terminated = np.concatenate([reach.terminated for reach in reaches])
        powers = self.discount ** np.arange(int(distances.max(initial=0)) + 1)
        before = np.concatenate([[0.0], np.cumsum(powers)])[distances]  # weights of ordinary steps
        gained = before[:, None] * self.graph.ordinary + powers[distances][:, None] * rewards
        returns = labels.returns[rows] + (self.discount ** labels.times[rows])[:, None] * gained
        in_time = edges.times <= self.step_limit
        pairs = zip(labels.numbers.tolist(), labels.states.tolist(), reaches, strict=True)
        for number, start, reach in pairs:
            for place, action in reach.unfamiliar:
                found.unfamiliar.append(Step(number, None, start, place, action))
        return returns[in_time], rows[in_time], edges.taking(in_time), terminated[in_time]

    def _step(self, labels: Labels, rows, edges: "Edges", index) -> Step:
        row = rows[index]
        return Step(
            int(labels.numbers[row]),
            None,
            int(labels.states[row]),
            int(edges.places[index]),
            int(edges.actions[index]),
        )

    def _kept(self, states, times, returns, seen: "SeenLabels", rng) -> Int[np.ndarray, " kept"]:
        """The labels to go on with, once those that are no better than others are dropped."""
        values = np.column_stack([returns, -times])
        index = np.flatnonzero(~seen.dominated(states, values))
        order = np.lexsort((-returns[index].sum(axis=1), times[index], states[index]))
        index = index[order]
        index = index[~dominated_neighbours(states[index], values[index])]
        index = index[rank_among_equals(states[index]) < self.labels_per_state]
        index = index[self._beam(values[index], rng)]
        seen.add(states[index], values[index])
        return index

    def _beam(
        self, values: Float[np.ndarray, "label value"], rng: np.random.Generator
    ) -> Int[np.ndarray, " kept"]:
        """Half of the places for the best under various weights, the others by chance."""
        num_labels, num_values = values.shape
        if num_labels <= self.beam:
            return np.arange(num_labels)
        low, high = values.min(axis=0), values.max(axis=0)
        scaled = (values - low) / np.where(high > low, high - low, 1.0)
        weights = rng.dirichlet(np.ones(num_values), self.num_weights)
        weights = np.concatenate([np.eye(num_values), weights])
        each = max(1, self.beam // 2 // len(weights))
        worth = scaled @ weights.T + rng.uniform(0, 1e-3, num_labels)[:, None]
        chosen = np.zeros(num_labels, dtype=bool)
        chosen[np.argpartition(-worth, each, axis=0)[:each]] = True
        others = rng.permutation(np.flatnonzero(~chosen))
        chosen[others[: max(0, self.beam - int(chosen.sum()))]] = True
        return np.flatnonzero(chosen)

    def _joined(self, labels: Labels, ways, on_ways, num_events, found: Found, seen) -> Labels:
        """The labels and those of known ways after as many events."""
        numbers, states, times, returns = [], [], [], []
        for index, way in enumerate(ways):
            if len(way.states) < num_events:
                continue
            at = num_events - 1
            begin = int(way.times[at - 1]) if at else 0
            actions = tuple(way.actions[begin : way.times[at]].tolist())
            on_ways[index] = found.add_label(Step(on_ways[index], actions))
            value = np.append(way.returns[at], -way.times[at])[None]
            state = way.states[at : at + 1]
            if not seen.dominated(state, value)[0]:
                seen.add(state, value)
                numbers.append(on_ways[index])
                states.append(int(state[0]))
                times.append(int(way.times[at]))
                returns.append(way.returns[at])
        if not numbers:
            return labels
        return Labels(
            np.concatenate([labels.numbers, numbers]),
            np.concatenate([labels.states, states]),
            np.concatenate([labels.times, times]),
            np.concatenate([labels.returns, returns]),
        )


@dataclass(frozen=True)
class Edges:
    """Events that follow labels."""

    places: Int[np.ndarray, " edge"]
    actions: Int[np.ndarray, " edge"]
    after: Int[np.ndarray, " edge"]
    times: Int[np.ndarray, " edge"]

    def taking(self, index: Bool[np.ndarray, " edge"]) -> "Edges":
        """The edges at `index`."""
        return Edges(
            self.places[index], self.actions[index], self.after[index], self.times[index]
        )


class SeenLabels:
    """A few values for each state that was reached, to compare later ones with."""

    def __init__(self, num_values: int, labels_per_state: int) -> None:
        self._states = np.zeros(0, np.int64)
        self._values = np.zeros((0, labels_per_state, num_values))

    def dominated(
        self, states: Int[np.ndarray, " label"], values: Float[np.ndarray, "label value"]
    ) -> Bool[np.ndarray, " label"]:
        """Which labels are no better than one that their state has."""
        dominated = np.zeros(len(states), dtype=bool)
        if len(self._states):
            place = np.minimum(np.searchsorted(self._states, states), len(self._states) - 1)
            index = np.flatnonzero(self._states[place] == states)
            at_least = self._values[place[index]] >= values[index, None] - NOTHING
            dominated[index] = np.any(np.all(at_least, axis=2), axis=1)
        return dominated

    def add(
        self, states: Int[np.ndarray, " label"], values: Float[np.ndarray, "label value"]
    ) -> None:
        """Remember labels; a state that has too many forgets the one with the smallest sum."""
        new = np.unique(states)
        if len(self._states):
            place = np.minimum(np.searchsorted(self._states, new), len(self._states) - 1)
            new = new[self._states[place] != new]
        place = np.searchsorted(self._states, new)
        self._states = np.insert(self._states, place, new)
        self._values = np.insert(self._values, place, -np.inf, axis=0)
        row = np.searchsorted(self._states, states)
        order = np.argsort(row, kind="stable")
        rank = rank_among_equals(row[order])
        for number in range(int(rank.max(initial=-1)) + 1):
            index = order[rank == number]
            place = self._values[row[index]].sum(axis=2).argmin(axis=1)
            self._values[row[index], place] = values[index]


def rank_among_equals(ordered: Int[np.ndarray, " label"]) -> Int[np.ndarray, " label"]:
    """How many equal entries come before each entry of an ordered array."""
    position = np.arange(len(ordered))
    is_first = np.ones(len(ordered), dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return position - np.maximum.accumulate(np.where(is_first, position, 0))


def dominated_neighbours(
    states: Int[np.ndarray, " label"], values: Float[np.ndarray, "label value"]
) -> Bool[np.ndarray, " label"]:
    """Which labels one of the few before them, of the same state, equals or dominates.

    Labels of a state stand together, the earliest first.
    """
    dominated = np.zeros(len(states), dtype=bool)
    for shift in range(1, min(9, len(states))):
        same = states[shift:] == states[:-shift]
        at_least = np.all(values[:-shift] >= values[shift:] - NOTHING, axis=1)
        dominated[shift:] |= same & at_least
    return dominated
