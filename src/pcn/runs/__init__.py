"""Runs: training with a record on disk, resuming it, and using what came out."""

from pcn.runs.run import Run, load
from pcn.runs.settings import Settings
from pcn.runs.training import Report, resume, train

__all__ = ["Report", "Run", "Settings", "load", "resume", "train"]
