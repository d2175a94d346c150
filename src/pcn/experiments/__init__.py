"""Experiments: many runs as data, executed on this machine, and what comes of them together."""
