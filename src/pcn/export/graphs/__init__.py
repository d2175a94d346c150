"""ONNX graphs of networks: one file for each kind of part, and the table of what can be written."""
