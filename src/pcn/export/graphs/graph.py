"""An ONNX graph under construction."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from pcn.version import __version__

OPSET = 17
"""The version of ONNX' operators: runtimes since 2022 know it."""
IR_VERSION = 9
BATCH = "batch"
"""The name of the first axis of every input and output that has one row per observation."""
NETWORK = "network"
"""The name of the input that says which of several networks acts."""


class Graph:
    """Nodes are added one after the other; each value is known by the name that `add` returns.

    Networks of one shape can share a graph: their weights are stacked along a first axis of
    `num_networks`, and the input `network` says which of them acts on the whole batch.
    """

    def __init__(self, num_networks: int = 1) -> None:
        self.num_networks = num_networks
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        if num_networks > 1:
            self.input(NETWORK, np.dtype(np.int64), ())

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one output; returns the name of the output."""
        (output,) = self.add_split(operator, *inputs, num_outputs=1, **attributes)
        return output

    def add_split(
        self, operator: str, *inputs: str, num_outputs: int, **attributes: Any
    ) -> list[str]:
        """Add an operator with several outputs; returns their names."""
        number = len(self._nodes)
        outputs = [f"{operator.lower()}_{number}_{place}" for place in range(num_outputs)]
        self._nodes.append(helper.make_node(operator, inputs, outputs, **attributes))
        return outputs

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        """A fixed array; returns its name."""
        name = f"constant_{len(self._constants)}"
        # Without the copy, what is one number or transposed would lose its shape or its order.
        array = np.array(value, kind, order="C")
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, stack: Any, *, transposed: bool = False) -> str:
        """The array that the acting network has in a stack [network, ...]."""
        values = np.asarray(stack)
        values = np.swapaxes(values, -1, -2) if transposed else values
        if self.num_networks == 1:
            return self.constant(values[0], values.dtype)
        return self.add("Gather", self.constant(values, values.dtype), NETWORK, axis=0)

    def reshaped(self, value: str, *shape: int) -> str:
        """A value in another shape; -1 is the remaining size, 0 keeps an axis."""
        return self.add("Reshape", value, self.constant(shape, np.int64))

    def single(self, value: str) -> str:
        """A value in single precision."""
        return self.add("Cast", value, to=TensorProto.FLOAT)

    def input(self, name: str, kind: np.dtype[Any], shape: Sequence[int | str]) -> str:
        """Declare an input; returns its name."""
        self._inputs.append(_described(name, kind, shape))
        return name

    def output(self, name: str, value: str, kind: Any, shape: Sequence[int | str]) -> None:
        """Declare a value as an output of that name."""
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(_described(name, np.dtype(kind), shape))

    def model(self, metadata: Mapping[str, Any]) -> onnx.ModelProto:
        """The finished model, checked; its metadata stand as JSON under the key `pcn`."""
        graph = helper.make_graph(
            self._nodes, "policy", self._inputs, self._outputs, self._constants
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="pcn",
            producer_version=__version__,
        )
        helper.set_model_props(model, {"pcn": json.dumps(metadata, allow_nan=False)})
        onnx.checker.check_model(model, full_check=True)
        return model


def _described(name: str, kind: np.dtype[Any], shape: Sequence[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(kind), shape)
