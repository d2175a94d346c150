"""State embeddings as ONNX nodes.

A new embedding is a function here and a line of `EMBEDDING_GRAPHS`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto

from pcn.errors import UserError
from pcn.export.graphs.graph import Graph
from pcn.export.graphs.layers import convolution, linear
from pcn.nets.embeddings import (
    AbstractStateEmbedding,
    OneHotEmbedding,
    OwnEmbedding,
    PictureEmbedding,
    StripEmbedding,
    SumEmbedding,
    VectorEmbedding,
)

Observed = Any
"""The name of the input of an observation; for one of several parts, a tuple of such."""


def embedded(graph: Graph, embedding: AbstractStateEmbedding, observation: Observed) -> str:
    """The embedding [batch, width] of an observation."""
    if isinstance(embedding, OwnEmbedding):
        raise UserError(
            f"the network embeds observations by {type(embedding.module).__name__}, which is your "
            "own: only embeddings that ship with pcn can be exported"
        )
    make = EMBEDDING_GRAPHS.get(type(embedding))
    if make is None:
        raise UserError(f"networks with a {type(embedding).__name__} cannot be exported")
    return make(graph, embedding, observation)


def _integers(graph: Graph, embedding: OneHotEmbedding, observation: str) -> str:
    """One row of weights for each value; values out of range have none."""
    flat = graph.reshaped(observation, -1, len(embedding.sizes))
    whole = graph.add("Cast", flat, to=TensorProto.INT64)
    values = graph.add("Sub", whole, graph.constant(embedding.starts, np.int64))
    if embedding.joint:
        strides = [math.prod(embedding.sizes[i + 1 :]) for i in range(len(embedding.sizes))]
        parts = graph.add("Mul", values, graph.constant(strides, np.int64))
        shown = graph.add("ReduceSum", parts, graph.constant([1], np.int64), keepdims=1)
        rows = np.arange(math.prod(embedding.sizes))
    else:
        part_of_row = np.repeat(np.arange(len(embedding.sizes)), embedding.sizes)
        shown = graph.add("Gather", values, graph.constant(part_of_row, np.int64), axis=1)
        rows = np.concatenate([np.arange(size) for size in embedding.sizes])
    hot = graph.add("Equal", shown, graph.constant(rows, np.int64))
    return linear(graph, embedding.linear, graph.single(hot))


def _vector(graph: Graph, embedding: VectorEmbedding, observation: str) -> str:
    flat = graph.single(graph.reshaped(observation, -1, embedding.mean.shape[-1]))
    shifted = graph.add("Sub", flat, graph.weight(embedding.mean))
    scaled = graph.add("Div", shifted, graph.weight(embedding.deviation))
    return linear(graph, embedding.linear, scaled)


def _picture(graph: Graph, embedding: PictureEmbedding, observation: str) -> str:
    value = graph.add("Div", graph.single(observation), graph.constant(255.0))
    for layer in embedding.layers:
        value = graph.add("Relu", convolution(graph, layer, value))
    return linear(graph, embedding.linear, graph.add("Flatten", value, axis=1))


def _strip(graph: Graph, embedding: StripEmbedding, observation: str) -> str:
    first, second = embedding.layers
    patch = embedding.PATCH
    channels = np.shape(first.weight)[-1] // patch
    # The number of rows and cells is not kept: the input's own shape says it.
    picture = graph.add("Div", graph.single(observation), graph.constant(255.0))
    cells = graph.add("Shape", observation, start=3, end=4)
    missing = graph.add("Mod", graph.add("Neg", cells), graph.constant([patch], np.int64), fmod=0)
    before = graph.constant([0] * 7, np.int64)
    padded = graph.add("Pad", picture, graph.add("Concat", before, missing, axis=0))
    patches = graph.reshaped(padded, 0, 0, 0, -1, patch)
    patches = graph.add("Transpose", patches, perm=[0, 2, 3, 1, 4])
    patches = graph.reshaped(patches, 0, 0, -1, channels * patch)
    seen = graph.add("Relu", linear(graph, first, patches))

    def along(start: int, end: int) -> str:
        limits = (graph.constant([number], np.int64) for number in (start, end, 2))
        return graph.add("Slice", seen, *limits)

    pairs = graph.add("Concat", along(0, -1), along(1, np.iinfo(np.int32).max), axis=-1)
    value = graph.add("Relu", linear(graph, second, pairs))
    flat = graph.reshaped(value, -1, np.shape(embedding.linear.weight)[-1])
    return linear(graph, embedding.linear, flat)


def _of_parts(graph: Graph, embedding: SumEmbedding, observation: tuple[Observed, ...]) -> str:
    parts = [
        embedded(graph, part, piece)
        for part, piece in zip(embedding.parts, observation, strict=True)
    ]
    return graph.add("Sum", *parts)


MakesGraph = Callable[[Graph, Any, Observed], str]

EMBEDDING_GRAPHS: dict[type[AbstractStateEmbedding], MakesGraph] = {
    OneHotEmbedding: _integers,
    VectorEmbedding: _vector,
    PictureEmbedding: _picture,
    StripEmbedding: _strip,
    SumEmbedding: _of_parts,
}
"""How each embedding is written."""
