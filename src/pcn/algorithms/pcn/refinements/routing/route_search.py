"""Route search: which returns a model of actions promises, and how to get them.

Labels are set from event to event: a label says that a state can be reached by a certain time with
a certain return so far. Of the labels of one state, those that are neither better nor earlier than
another are dropped: whatever follows could follow the other as well. Where there are too many, some
are kept: the best for various weights of the objectives and of time, and others by chance.

An episode ends with an event that ends it. Where all episodes have one length, each ends at that
time instead: with an event just then, or after ordinary steps up to it.
"""

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float, Int

from pcn.algorithms.pcn.refinements.routing.found_routes import Edges, Found, Segment
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

    def taking(self, index: Int[np.ndarray, " kept"]) -> "Labels":
        """The labels at `index`."""
        return Labels(*(getattr(self, field.name)[index] for field in fields(self)))

    def followed_by(self, other: "Labels") -> "Labels":
        """These labels and then the others."""
        return Labels(
            *(
                np.concatenate([getattr(self, field.name), getattr(other, field.name)])
                for field in fields(self)
            )
        )


@dataclass(frozen=True, kw_only=True)
class RouteSearch:
    """How routes are searched for; see the fields."""

    graph: RouteGraph
    discount: float
    step_limit: int
    """The step with which an episode ends in any case."""
    fixed_length: bool
    """Whether no episode ends before that: then of labels of one state an earlier one has to be
    better even after it has waited for the other. Elsewhere routes that only wait for the limit
    would cost as many steps as several that come to an end."""
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
        first = np.zeros(1, np.int64)
        labels = Labels(first, first + start, first, np.zeros((1, len(self.scale))))
        seen = SeenLabels(self._values(labels).shape[1], self.labels_per_state)
        guides, front = Guides(ways, self.scale), front / self.scale
        last_gain = num_events = 0
        while len(labels) and num_events <= max(last_gain + self.patience, guides.most_events):
            edges = self._followed(labels, found)
            ends = edges.taking(edges.over)
            if self.fixed_length:
                ends = ends.followed_by(self._waiting(labels))
            ends = ends.taking(~covered_mask(ends.returns, front, tolerances=NOTHING))
            ends = ends.taking(unique_front(ends.returns)) if len(ends) else ends
            if len(ends):
                if not covered_mask(ends.returns - self.gain, front).all():
                    last_gain = num_events
                found.add_ends(ends)
                front = np.concatenate([front, ends.returns])
            edges = edges.taking(~edges.over)
            edges = edges.taking(self._kept(edges, seen, rng))
            labels = Labels(found.add_labels(edges), edges.after, edges.times, edges.returns)
            known = guides.after_event(num_events, found)
            labels = labels.followed_by(known.taking(self._new(known, seen)))
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
        times = labels.times[rows] + far + 1
        edges = Edges(
            parents=labels.numbers[rows],
            starts=labels.states[rows],
            places=all_reach.places,
            actions=all_reach.actions,
            waits=np.zeros_like(rows),
            after=all_reach.after,
            times=times,
            returns=labels.returns[rows] + so_far * gained / self.scale,
            over=times == self.step_limit if self.fixed_length else all_reach.terminated,
        )
        return edges.taking(edges.times <= self.step_limit)

    def _waiting(self, labels: Labels) -> Edges:
        """Every label followed by ordinary steps up to the step limit, where they are possible."""
        left = self.step_limit - labels.times
        most = np.array([reach.most_steps for reach in self.graph.reaches(labels.states)])
        index = np.flatnonzero((left > 0) & (most >= left))
        starts, times, none = labels.states[index], labels.times[index], np.zeros_like(index)
        worth = self._ordinary_until(np.array(self.step_limit)) - self._ordinary_until(times)
        return Edges(
            parents=labels.numbers[index],
            starts=starts,
            places=none,
            actions=none,
            waits=left[index],
            after=starts,
            times=none + self.step_limit,
            returns=labels.returns[index] + worth,
            over=none == 0,
        )

    def _ordinary_until(
        self, times: Int[np.ndarray, "*label"]
    ) -> Float[np.ndarray, "*label value"]:
        """The scaled return of ordinary steps from the start up to each time."""
        powers = self.discount ** np.arange(self.step_limit)
        weights = np.concatenate([[0.0], np.cumsum(powers)])[times]
        return weights[..., None] * self.graph.ordinary / self.scale

    def _values(self, labels: Labels | Edges) -> Float[np.ndarray, "label value"]:
        """What labels of one state are compared by: return, earliness, and return after waiting."""
        values = np.column_stack([labels.returns, -labels.times])
        if not self.fixed_length:
            return values
        costly = self.graph.ordinary != 0  # elsewhere waiting changes nothing
        waited = labels.returns - self._ordinary_until(labels.times)
        return np.column_stack([values, waited[:, costly]])

    def _new(self, labels: Labels, seen: SeenLabels) -> Int[np.ndarray, " kept"]:
        """The labels of known ways, without those that are no better than others."""
        values = self._values(labels)
        order = np.lexsort((-labels.returns.sum(axis=1), labels.times, labels.states))
        order = order[~dominated_neighbours(labels.states[order], values[order])]
        index = order[~seen.dominated(labels.states[order], values[order])]
        seen.add(labels.states[index], values[index])
        return index

    def _kept(
        self, edges: "Edges", seen: SeenLabels, rng: np.random.Generator
    ) -> Int[np.ndarray, " kept"]:
        """The labels to go on with, once those that are no better than others are dropped."""
        states, values = edges.after, self._values(edges)
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


class Guides:
    """Walks along known ways from event to event, and keeps their labels' numbers."""

    def __init__(self, ways: list[Way], scale: Float[np.ndarray, " objective"]) -> None:
        self._ways = ways
        self._scale = scale
        self._numbers = [0] * len(ways)
        self.most_events = max((len(way.states) for way in ways), default=0)
        """Events of the way that has most."""

    def after_event(self, event: int, found: Found) -> Labels:
        """The labels of the ways that have this event."""
        on = [index for index, way in enumerate(self._ways) if len(way.states) > event]
        for index in on:
            way = self._ways[index]
            begin = int(way.times[event - 1]) if event else 0
            actions = tuple(way.actions[begin : way.times[event]].tolist())
            self._numbers[index] = found.add_label(Segment(self._numbers[index], actions))
        ways = [self._ways[index] for index in on]
        return Labels(
            np.array([self._numbers[index] for index in on], np.int64),
            np.array([way.states[event] for way in ways], np.int64),
            np.array([way.times[event] for way in ways], np.int64),
            np.array([way.returns[event] for way in ways]).reshape(-1, len(self._scale))
            / self._scale,
        )
