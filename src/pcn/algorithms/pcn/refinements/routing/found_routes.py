"""Found routes: what a search promises, and the actions that lead there."""

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Float, Int

from pcn.algorithms.pcn.refinements.routing.route_graph import RouteGraph


@dataclass(frozen=True, kw_only=True)
class Edges:
    """Events that follow labels, and ends that are waited for."""

    parents: Int[np.ndarray, " edge"]
    """The number of the label before."""
    starts: Int[np.ndarray, " edge"]
    """The state of the label before."""
    places: Int[np.ndarray, " edge"]
    """The place before the event."""
    actions: Int[np.ndarray, " edge"]
    """The event's action."""
    waits: Int[np.ndarray, " edge"]
    """Ordinary steps up to the end of the episode, in place of an event; 0 for an event."""
    after: Int[np.ndarray, " edge"]
    """The state after the event."""
    times: Int[np.ndarray, " edge"]
    returns: Float[np.ndarray, "edge objective"]
    over: Bool[np.ndarray, " edge"]
    """Whether the episode is over then."""

    def __len__(self) -> int:
        return len(self.parents)

    def taking(self, index: Int[np.ndarray, " kept"] | Bool[np.ndarray, " edge"]) -> "Edges":
        """The edges at `index`."""
        return Edges(**{field.name: getattr(self, field.name)[index] for field in fields(self)})

    def followed_by(self, other: "Edges") -> "Edges":
        """These edges and then the others."""
        columns = {
            field.name: np.concatenate([getattr(self, field.name), getattr(other, field.name)])
            for field in fields(self)
        }
        return Edges(**columns)


@dataclass(frozen=True)
class Segment:
    """How a label is reached.

    By known actions, by ordinary steps to a place and one more, or by ordinary steps alone.
    """

    parent: int
    """The number of the label before; -1 for the first label."""
    known: tuple[int, ...] | None
    start: int = 0
    place: int = 0
    action: int = 0
    waits: int = 0


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
        """Note how episodes end."""
        self.returns = np.concatenate([self.returns, edges.returns * self._scale])
        self._ends += _segments(edges)

    def route(self, number: int) -> Int[np.ndarray, " time"]:
        """The actions of one of the routes that come to an end."""
        return self.actions(self._ends[number])

    def actions(self, segment: Segment) -> Int[np.ndarray, " time"]:
        """All actions from the start on to the end of a segment."""
        parts: list[list[int]] = []
        while True:
            if segment.known is not None:
                parts.append(list(segment.known))
            elif segment.waits:
                parts.append(self._graph.walk(segment.start, segment.waits))
            else:
                way = self._graph.way(segment.start, segment.place)
                parts.append([*way, segment.action])
            if segment.parent < 0:
                break
            segment = self._segments[segment.parent]
        return np.array([action for part in parts[::-1] for action in part], np.int64)


def _segments(edges: Edges) -> list[Segment]:
    columns = (edges.parents, edges.starts, edges.places, edges.actions, edges.waits)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [Segment(parent, None, *rest) for parent, *rest in rows]
