"""Policies and episodes for other tools: ONNX models, and datasets.

Names are imported when they are first used, because the packages that they need may not be
installed.
"""

from typing import TYPE_CHECKING, Any

from pcn.lazy import attribute_of

if TYPE_CHECKING:
    from pcn.export.minari_dataset import write_dataset
    from pcn.export.onnx_files import OnnxFiles, write_onnx

__all__ = ["OnnxFiles", "write_dataset", "write_onnx"]

_MODULES = {
    "OnnxFiles": "pcn.export.onnx_files",
    "write_dataset": "pcn.export.minari_dataset",
    "write_onnx": "pcn.export.onnx_files",
}


def __getattr__(name: str) -> Any:
    return attribute_of(__name__, name, _MODULES)
