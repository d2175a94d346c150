"""Action heads as ONNX nodes: greedy actions, and actions as numbers for other networks.

A new head is a pair of functions and a line of `HEAD_GRAPHS`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pcn.errors import UserError
from pcn.export.graphs.graph import Graph
from pcn.nets.heads import AbstractActionHead, CategoricalHead
from pcn.nets.heads.categorical import FORBIDDEN


class HeadGraph(NamedTuple):
    """How one kind of head is written."""

    greedy: Callable[[Graph, Any, str, str | None], str]
    """Nodes for the action [batch, part] of the network's outputs, given the name of a mask."""
    features: Callable[[Graph, Any, str], str]
    """Nodes for an action [batch, part] as numbers [batch, feature]."""
    kind: type[np.generic]
    """The type of the actions that `greedy` puts out."""


def head_graph(head: AbstractActionHead) -> HeadGraph:
    """How a head is written; a `UserError` where that is not known."""
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


HEAD_GRAPHS: dict[type[AbstractActionHead], HeadGraph] = {
    CategoricalHead: HeadGraph(_choices, _one_hot, np.int64),
}
"""How each head is written."""
