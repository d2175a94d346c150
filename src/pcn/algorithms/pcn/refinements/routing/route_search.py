"""Route search: which returns a model of actions promises, and how to get them.

Labels are set from event to event: a label says that a state can be reached by a certain time with
a certain return so far. Of the labels of one state, those that are neither better nor earlier than
another are dropped: whatever follows could follow the other as well. Where there are too many, some
are kept: the best for various weights of the objectives and of time, and others by chance.
"""

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.algorithms.pcn.refinements.routing.route_graph import Reach, RouteGraph
from pcn.algorithms.pcn.refinements.routing.seen_labels import (
    NOTHING,
    SeenLabels,
    dominated_neighbours,
    rank_among_equals,
)
from pcn.pareto import covered_mask, unique_front


@dataclass(frozen=True)
class Way:
    """A known episode and its events; the last event, which ends it, is left out."""

    states: Int[np.ndarray, " event"]
    """The state after each event."""
    times: Int[np.ndarray, " event"]
    """The number of steps up to each event."""
    returns: Float[np.ndarray, "event objective"]
    """The return up to each event."""
    actions: Int[np.ndarray, " time"]


@dataclass(frozen=True)
class Labels:
    """States that can be reached after a number of events."""

    numbers: Int[np.ndarray, " label"]
    states: Int[np.ndarray, " label"]
    times: Int[np.ndarray, " label"]
    returns: Float[np.ndarray, "label objective"]

    def __len__(self) -> int:
        return len(self.numbers)

    def followed_by(self, other: "Labels") -> "Labels":
        """These labels and then the others."""
        return Labels(
            *(
                np.concatenate([getattr(self, field.name), getattr(other, field.name)])
                for field in fields(self)
            )
        )


@dataclass(frozen=True, kw_only=True)
class Edges:
    """Events that follow labels."""

    parents: Int[np.ndarray, " edge"]
    """The number of the label before."""
    starts: Int[np.ndarray, " edge"]
    """The state of the label before."""
    places: Int[np.ndarray, " edge"]
    """The place before the event."""
    actions: Int[np.ndarray, " edge"]
    """The event's action."""
    after: Int[np.ndarray, " edge"]
    """The state after the event."""
    times: Int[np.ndarray, " edge"]
    returns: Float[np.ndarray, "edge objective"]
    terminated: Bool[np.ndarray, " edge"]

    def __len__(self) -> int:
        return len(self.parents)

    def taking(self, index: Int[np.ndarray, " kept"] | Bool[np.ndarray, " edge"]) -> "Edges":
        """The edges at `index`."""
        return Edges(**{field.name: getattr(self, field.name)[index] for field in fields(self)})


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
    gain: float
    """What a better return has to be better by, for that, in units of `scale`."""
    scale: Float[np.ndarray, " objective"]
    """The unit in which returns are compared."""

    def run(
        self,
        start: int,
        ways: list[Way],
        front: Float[np.ndarray, "point objective"],
        rng: np.random.Generator,
    ) -> "Found":
        """Search from the start and from everything on known ways, for what `front` lacks."""
        found = Found(self.graph, self.scale)
        seen = SeenLabels(len(self.scale) + 1, self.labels_per_state)
        first = np.zeros(1, np.int64)
        labels = Labels(first, first + start, first, np.zeros((1, len(self.scale))))
        guides, front = Guides(ways, self.scale), front / self.scale
        last_gain = num_events = 0
        while len(labels) and num_events <= max(last_gain + self.patience, guides.most_events):
            edges = self._followed(labels, found)
            ends = edges.taking(edges.terminated)
            ends = ends.taking(~covered_mask(ends.returns, front, tolerances=NOTHING))
            ends = ends.taking(unique_front(ends.returns)) if len(ends) else ends
            if len(ends):
                if not covered_mask(ends.returns - self.gain, front).all():
                    last_gain = num_events
                found.add_ends(ends)
                front = np.concatenate([front, ends.returns])
            edges = edges.taking(~edges.terminated)
            edges = edges.taking(self._kept(edges, seen, rng))
            labels = Labels(found.add_labels(edges), edges.after, edges.times, edges.returns)
            labels = labels.followed_by(guides.after_event(num_events, found, seen))
            num_events += 1
        return found

    def _followed(self, labels: Labels, found: "Found") -> "Edges":
        """Every label followed by every event that can be reached from it in time."""
        reaches = self.graph.reaches(labels.states)
        rows = np.repeat(np.arange(len(labels)), [len(reach.after) for reach in reaches])
        all_reach = Reach.joined(reaches)
        far = all_reach.distances
        powers = self.discount ** np.arange(int(far.max(initial=0)) + 1)
        before = np.concatenate([[0.0], np.cumsum(powers)])[far]  # weights of ordinary steps
        gained = before[:, None] * self.graph.ordinary + powers[far][:, None] * all_reach.rewards
        so_far = (self.discount ** labels.times[rows])[:, None]
        pairs = zip(labels.numbers.tolist(), labels.states.tolist(), reaches, strict=True)
        for number, start, reach in pairs:
            for place, action in reach.unfamiliar:
                found.unfamiliar.append(Segment(number, None, start, place, action))
        edges = Edges(
            parents=labels.numbers[rows],
            starts=labels.states[rows],
            places=all_reach.places,
            actions=all_reach.actions,
            after=all_reach.after,
            times=labels.times[rows] + far + 1,
            returns=labels.returns[rows] + so_far * gained / self.scale,
            terminated=all_reach.terminated,
        )
        return edges.taking(edges.times <= self.step_limit)

    def _kept(
        self, edges: "Edges", seen: SeenLabels, rng: np.random.Generator
    ) -> Int[np.ndarray, " kept"]:
        """The labels to go on with, once those that are no better than others are dropped."""
        states, values = edges.after, np.column_stack([edges.returns, -edges.times])
        index = np.flatnonzero(~seen.dominated(states, values))
        order = (-edges.returns[index].sum(axis=1), edges.times[index], states[index])
        index = index[np.lexsort(order)]
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
        worth = scaled @ weights.T + 1e-3 * rng.random((num_labels, 1))
        chosen = np.zeros(num_labels, dtype=bool)
        chosen[np.argpartition(-worth, each, axis=0)[:each]] = True
        others = rng.permutation(np.flatnonzero(~chosen))
        chosen[others[: max(0, self.beam - int(chosen.sum()))]] = True
        return np.flatnonzero(chosen)


@dataclass(frozen=True)
class Segment:
    """How a label is reached: by known actions, or by ordinary steps to a place and one more."""

    parent: int
    """The number of the label before; -1 for the first label."""
    known: tuple[int, ...] | None
    start: int = 0
    place: int = 0
    action: int = 0


class Found:
    """What a search found: promised returns, and how each is reached."""

    def __init__(self, graph: RouteGraph, scale: Float[np.ndarray, " objective"]) -> None:
        self._graph = graph
        self._scale = scale
        self._segments: list[Segment] = [Segment(-1, ())]
        self._ends: list[Segment] = []
        self.returns = np.zeros((0, len(scale)))
        """What the routes that come to an end promise."""
        self.unfamiliar: list[Segment] = []
        """Routes to steps that were never taken."""

    def __len__(self) -> int:
        return len(self._segments)

    def add_label(self, segment: Segment) -> int:
        """Number a label."""
        self._segments.append(segment)
        return len(self._segments) - 1

    def add_labels(self, edges: Edges) -> Int[np.ndarray, " label"]:
        """Number the labels that events lead to."""
        first = len(self._segments)
        self._segments += _segments(edges)
        return np.arange(first, len(self._segments))

    def add_ends(self, edges: Edges) -> None:
        """Note events that end the episode."""
        self.returns = np.concatenate([self.returns, edges.returns * self._scale])
        self._ends += _segments(edges)

    def route(self, number: int) -> Int[np.ndarray, " time"]:
        """The actions of one of the routes that come to an end."""
        return self.actions(self._ends[number])

    def actions(self, segment: Segment) -> Int[np.ndarray, " time"]:
        """All actions from the start on to the end of a segment."""
        parts: list[list[int]] = []
        while True:
            if segment.known is None:
                way = self._graph.way(segment.start, segment.place)
                parts.append([*way, segment.action])
            else:
                parts.append(list(segment.known))
            if segment.parent < 0:
                break
            segment = self._segments[segment.parent]
        return np.array([action for part in parts[::-1] for action in part], np.int64)


def _segments(edges: Edges) -> list[Segment]:
    columns = (edges.parents, edges.starts, edges.places, edges.actions)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [Segment(parent, None, start, place, action) for parent, start, place, action in rows]


class Guides:
    """Walks along known ways from event to event, and keeps their labels' numbers."""

    def __init__(self, ways: list[Way], scale: Float[np.ndarray, " objective"]) -> None:
        self._ways = ways
        self._scale = scale
        self._numbers = [0] * len(ways)
        self.most_events = max((len(way.states) for way in ways), default=0)
        """Events of the way that has most."""

    def after_event(self, event: int, found: Found, seen: SeenLabels) -> Labels:
        """The labels of the ways that have this event, unless others are as good."""
        on = [index for index, way in enumerate(self._ways) if len(way.states) > event]
        for index in on:
            way = self._ways[index]
            begin = int(way.times[event - 1]) if event else 0
            actions = tuple(way.actions[begin : way.times[event]].tolist())
            self._numbers[index] = found.add_label(Segment(self._numbers[index], actions))
        ways = [self._ways[index] for index in on]
        labels = Labels(
            np.array([self._numbers[index] for index in on], np.int64),
            np.array([way.states[event] for way in ways], np.int64),
            np.array([way.times[event] for way in ways], np.int64),
            np.array([way.returns[event] for way in ways]).reshape(-1, len(self._scale))
            / self._scale,
        )
        values = np.column_stack([labels.returns, -labels.times])
        order = np.lexsort((-labels.returns.sum(axis=1), labels.times, labels.states))
        order = order[~dominated_neighbours(labels.states[order], values[order])]
        index = order[~seen.dominated(labels.states[order], values[order])]
        seen.add(labels.states[index], values[index])
        return Labels(*(getattr(labels, field.name)[index] for field in fields(labels)))
