"""Layers of Equinox as ONNX nodes."""

import equinox as eqx
import numpy as np

from pcn.export.graphs.graph import Graph


def linear(graph: Graph, layer: eqx.nn.Linear, value: str) -> str:
    """A linear layer over the last axis."""
    product = graph.add("MatMul", value, graph.weight(layer.weight, transposed=True))
    return product if layer.bias is None else graph.add("Add", product, graph.weight(layer.bias))


def relu_mlp(graph: Graph, mlp: eqx.nn.MLP, value: str) -> str:
    """Linear layers with ReLU between them."""
    *hidden, last = mlp.layers
    for layer in hidden:
        value = graph.add("Relu", linear(graph, layer, value))
    return linear(graph, last, value)


def convolution(graph: Graph, layer: eqx.nn.Conv2d, value: str) -> str:
    """A convolution over [batch, channel, row, column], without padding."""
    inputs = [value, graph.weight(layer.weight)]
    if layer.bias is not None:
        stack = np.asarray(layer.bias)  # [network, channel, 1, 1]
        inputs.append(graph.weight(stack.reshape(stack.shape[:2])))
    return graph.add("Conv", *inputs, strides=list(layer.stride), dilations=list(layer.dilation))
