"""Decision trees, one for each action, that are right about everything they have been shown."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float, Int

MOST_CODES = 64
"""Thresholds that are compared for one part of an observation at a time, about."""


class EffectTrees:
    """The nodes of all trees in flat arrays; the first nodes are the actions' roots.

    A leaf is a node that is its own successor.
    """

    def __init__(self, num_actions: int, num_parts: int) -> None:
        self.num_actions = num_actions
        self._num_parts = num_parts
        self._num_nodes = 0
        self._part = np.zeros(0, np.int64)
        self._threshold = np.zeros(0)
        self._below = np.zeros(0, np.int64)
        self._above = np.zeros(0, np.int64)
        self.labels = np.zeros(0, np.int64)
        """What each leaf says; -1 where nothing was seen."""
        for _ in range(num_actions):
            self._new_node()

    def leaves(
        self, nodes: Int[np.ndarray, " step"], observations: Float[np.ndarray, "step part"]
    ) -> Int[np.ndarray, " step"]:
        """The leaf that each observation ends in, starting from a node; an action is its root."""
        nodes = nodes.astype(np.int64)
        going = np.flatnonzero(self._below[nodes] != nodes)
        while len(going):
            at = nodes[going]
            is_below = observations[going, self._part[at]] <= self._threshold[at]
            at = np.where(is_below, self._below[at], self._above[at])
            nodes[going] = at
            going = going[self._below[at] != at]
        return nodes

    def tested_parts(self) -> Bool[np.ndarray, "node part"]:
        """Which parts are compared with a threshold on the way to each node."""
        tested = np.zeros((len(self.labels), self._num_parts), dtype=bool)
        for node in range(self._num_nodes):  # successors come after their node
            below, above = self._below[node], self._above[node]
            if below != node:
                tested[[below, above]] = tested[node]
                tested[[below, above], self._part[node]] = True
        return tested

    def grow(
        self,
        node: int,
        observations: Float[np.ndarray, "step part"],
        labels: Int[np.ndarray, " step"],
    ) -> None:
        """Split a leaf until every leaf below it has one label, if the observations allow it."""
        index = np.arange(len(labels))
        waiting = [(node, index, *coded(observations))] if len(index) else []
        while waiting:
            node, index, codes, values = waiting.pop()
            own = labels[index]
            split = None if np.all(own == own[0]) else best_split(codes, own)
            if split is None and not np.all(own == own[0]):
                codes, values = coded(observations[index])  # finer than before
                split = best_split(codes, own)
            if split is None:
                self.labels[node] = np.bincount(own).argmax()
                continue
            part, code = split
            is_below = codes[:, part] <= code
            below, above = self._new_node(), self._new_node()
            self._part[node], self._threshold[node] = part, values[part][code]
            self._below[node], self._above[node] = below, above
            waiting.append((below, index[is_below], codes[is_below], values))
            waiting.append((above, index[~is_below], codes[~is_below], values))

    def _new_node(self) -> int:
        node = self._num_nodes
        if node == len(self.labels):
            more = max(64, node)
            numbers, unknown = np.arange(node, node + more), np.full(more, -1, np.int64)
            self._part = np.concatenate([self._part, np.zeros(more, np.int64)])
            self._threshold = np.concatenate([self._threshold, np.zeros(more)])
            self._below = np.concatenate([self._below, numbers])
            self._above = np.concatenate([self._above, numbers])
            self.labels = np.concatenate([self.labels, unknown])
        self._num_nodes += 1
        return node

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All nodes."""
        used = slice(self._num_nodes)
        return {
            "part": self._part[used],
            "threshold": self._threshold[used],
            "below": self._below[used],
            "above": self._above[used],
            "labels": self.labels[used],
        }

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` gave."""
        self._part, self._threshold = arrays["part"].copy(), arrays["threshold"].copy()
        self._below, self._above = arrays["below"].copy(), arrays["above"].copy()
        self.labels = arrays["labels"].copy()
        self._num_nodes = len(self.labels)


Codes = tuple[Int[np.ndarray, "step part"], list[Float[np.ndarray, " code"]]]


def coded(observations: Float[np.ndarray, "step part"]) -> Codes:
    """Number the values of each part in their order, with the threshold above each number.

    Where a part has many values, neighbours share a number.
    """
    codes, thresholds = np.zeros(observations.shape, np.int64), []
    for part, column in enumerate(observations.T):
        values = np.unique(column)
        if len(values) > MOST_CODES:
            values = np.unique(np.quantile(column, np.linspace(0, 1, MOST_CODES), method="lower"))
        between = (values[:-1] + values[1:]) / 2
        codes[:, part] = np.searchsorted(between, column, side="left")
        thresholds.append(between)
    return codes, thresholds


def best_split(
    codes: Int[np.ndarray, "step part"], labels: Int[np.ndarray, " step"]
) -> tuple[int, int] | None:
    """The part to look at and the code up to which steps go below, so that labels separate best.

    None where all steps have the same codes. Separated best means the smallest Gini impurity.
    """
    low, high = codes.min(axis=0), codes.max(axis=0)
    parts = np.flatnonzero(high > low)
    if len(parts) == 0:
        return None
    kinds, own = np.unique(labels, return_inverse=True)
    num_kinds, widths = len(kinds), (high - low)[parts] + 1
    ends = np.cumsum(widths)
    starts = ends - widths
    # How often each label goes with each code, the parts' codes one after the other.
    places = codes[:, parts] - low[parts] + starts
    counts = np.bincount(
        (places * num_kinds + own[:, None]).ravel(), minlength=ends[-1] * num_kinds
    ).reshape(-1, num_kinds)
    running = np.cumsum(counts, axis=0)
    before = np.concatenate([np.zeros((1, num_kinds), running.dtype), running])[starts]
    below = (running - np.repeat(before, widths, axis=0)).astype(np.float64)
    above = below[ends[0] - 1] - below
    num_below, num_above = below.sum(axis=1), above.sum(axis=1)
    purity = (below**2).sum(axis=1) / np.maximum(num_below, 1)
    purity += (above**2).sum(axis=1) / np.maximum(num_above, 1)
    best = int(np.where((num_below > 0) & (num_above > 0), purity, -1.0).argmax())
    which = int(np.searchsorted(ends, best, side="right"))
    return int(parts[which]), int(best - starts[which] + low[parts[which]])
