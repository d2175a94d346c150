"""Action heads as ONNX nodes: greedy actions, and actions as numbers for other networks.

A new head is a pair of functions and a line of `HEAD_GRAPHS`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from onnx import helper

from pcn.errors import UserError
from pcn.export.graphs.graph import Graph
from pcn.nets.heads import (
    AbstractActionHead,
    AbstractBoxHead,
    CategoricalHead,
    JointHead,
    LevelsHead,
    TruncatedGaussianHead,
)
from pcn.nets.heads.categorical import FORBIDDEN


class HeadGraph(NamedTuple):
    """How one kind of head is exported."""

    greedy: Callable[[Graph, Any, str, str | None], str]
    """Nodes for the action [batch, part] of the network's outputs, given the name of a mask."""
    features: Callable[[Graph, Any, str], str]
    """Nodes for an action [batch, part] as numbers [batch, feature]."""
    kind: type[np.generic]
    """The type of the actions that `greedy` puts out."""


def head_graph(head: AbstractActionHead) -> HeadGraph:
    """The export of a head; a `UserError` if there is none."""
    if type(head) not in HEAD_GRAPHS:
        raise UserError(f"policies with a {type(head).__name__} cannot be exported")
    return HEAD_GRAPHS[type(head)]


def _choices(graph: Graph, head: CategoricalHead, outputs: str, mask: str | None) -> str:
    """The most likely option of each part; the first one where several tie."""
    if mask is not None:
        outputs = graph.add("Where", mask, outputs, graph.constant(FORBIDDEN))
    sizes = graph.constant(head.sizes, np.int64)
    parts = graph.add_split("Split", outputs, sizes, num_outputs=len(head.sizes), axis=1)
    chosen = [graph.add("ArgMax", part, axis=1, keepdims=1) for part in parts]
    return graph.add("Concat", *chosen, axis=1)


def _one_hot(graph: Graph, head: CategoricalHead, action: str) -> str:
    """1 for each option that was chosen, 0 for the others."""
    part_of_option = np.repeat(np.arange(len(head.sizes)), head.sizes)
    options = np.concatenate([np.arange(size) for size in head.sizes])
    chosen = graph.add("Gather", action, graph.constant(part_of_option, np.int64), axis=1)
    return graph.single(graph.add("Equal", chosen, graph.constant(options, np.int64)))


def _levels(graph: Graph, head: LevelsHead, outputs: str, mask: str | None) -> str:
    """The values of the most likely levels."""
    chosen = graph.single(_choices(graph, head.choices, outputs, mask))
    return _row(graph, head, graph.add("Div", chosen, graph.constant(head.steps())))


def _highest(graph: Graph, head: TruncatedGaussianHead, outputs: str, mask: str | None) -> str:
    """The mean of the likeliest bin of each number."""
    del mask
    bins, columns = head.num_bins, 2 * head.num_bins + 1
    first = np.arange(head.num_parts)[:, None] * columns + np.arange(bins)
    logits, places = (
        graph.add("Gather", outputs, graph.constant(index, np.int64), axis=1)
        for index in (first, first + bins)
    )
    offset = graph.add("Mul", graph.add("Tanh", places), graph.constant(0.5 / bins))
    mean = graph.add("Add", offset, graph.constant((np.arange(bins) + 0.5) / bins))
    best = graph.add("ArgMax", logits, axis=2, keepdims=1)
    is_best = graph.single(graph.add("Equal", best, graph.constant(np.arange(bins), np.int64)))
    kept = graph.add("Mul", mean, is_best)
    return _row(
        graph, head, graph.add("ReduceSum", kept, graph.constant([2], np.int64), keepdims=0)
    )


def _row(graph: Graph, head: AbstractBoxHead, unit: str) -> str:
    """Shares of the box as actions."""
    scaled = graph.add("Mul", unit, graph.constant(head.box.extents()))
    value = graph.add("Add", scaled, graph.constant(head.box.lows()))
    # Rounding must not lead out of the box.
    least = graph.add("Max", value, graph.constant(head.box.lows()))
    return graph.add("Min", least, graph.constant(head.box.high))


def _signed(graph: Graph, head: AbstractBoxHead, action: str) -> str:
    """An action from -1 to 1."""
    above = graph.add("Sub", action, graph.constant(head.box.lows()))
    twice = graph.add("Mul", above, graph.constant(2 / head.box.extents()))
    return graph.add("Sub", twice, graph.constant(1.0))


def _of_parts(graph: Graph, head: JointHead, outputs: str, mask: str | None) -> str:
    """The actions of all parts side by side, as real numbers."""
    masks: list[str | None] = [None] * len(head.heads)
    if mask is not None:
        places = [place for place, part in enumerate(head.heads) if part.mask_size]
        sizes = [head.heads[place].mask_size for place in places]
        for place, piece in zip(places, _pieces(graph, mask, sizes), strict=True):
            masks[place] = piece
    pieces = _pieces(graph, outputs, [part.num_outputs for part in head.heads])
    rows = [
        head_graph(part).greedy(graph, part, piece, own)
        for part, piece, own in zip(head.heads, pieces, masks, strict=True)
    ]
    return graph.add("Concat", *(graph.single(row) for row in rows), axis=1)


def _features_of_parts(graph: Graph, head: JointHead, action: str) -> str:
    """The features of all parts side by side."""
    features = []
    pieces = _pieces(graph, action, [part.num_parts for part in head.heads])
    for part, piece in zip(head.heads, pieces, strict=True):
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(head_graph(part).kind))
        typed = graph.add("Cast", piece, to=kind)
        features.append(head_graph(part).features(graph, part, typed))
    return graph.add("Concat", *features, axis=1)


def _pieces(graph: Graph, value: str, sizes: list[int]) -> list[str]:
    """Parts of the last axis."""
    return graph.add_split(
        "Split", value, graph.constant(sizes, np.int64), num_outputs=len(sizes), axis=1
    )


HEAD_GRAPHS: dict[type[AbstractActionHead], HeadGraph] = {
    CategoricalHead: HeadGraph(_choices, _one_hot, np.int64),
    LevelsHead: HeadGraph(_levels, _signed, np.float32),
    TruncatedGaussianHead: HeadGraph(_highest, _signed, np.float32),
    JointHead: HeadGraph(_of_parts, _features_of_parts, np.float32),
}
"""How each head is written."""
