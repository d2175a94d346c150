"""Runs: training with a record on disk, resuming it, and using what came out.

Names are imported when they are first used: looking at a run needs no JAX.
"""

from typing import TYPE_CHECKING, Any

from pcn.lazy import attribute_of

if TYPE_CHECKING:
    from pcn.runs.events import Advanced, Collecting, Event, Noticed, Probing, Started
    from pcn.runs.policy import Policy
    from pcn.runs.request import Request
    from pcn.runs.run import Run, load
    from pcn.runs.settings import Settings
    from pcn.runs.training import carry_out, resume, train

__all__ = [
    "Advanced",
    "Collecting",
    "Event",
    "Noticed",
    "Policy",
    "Probing",
    "Request",
    "Run",
    "Settings",
    "Started",
    "carry_out",
    "load",
    "resume",
    "train",
]

_MODULES = {
    "Advanced": "pcn.runs.events",
    "Collecting": "pcn.runs.events",
    "Event": "pcn.runs.events",
    "Policy": "pcn.runs.policy",
    "Request": "pcn.runs.request",
    "Run": "pcn.runs.run",
    "Settings": "pcn.runs.settings",
    "Noticed": "pcn.runs.events",
    "Probing": "pcn.runs.events",
    "Started": "pcn.runs.events",
    "carry_out": "pcn.runs.training",
    "load": "pcn.runs.run",
    "resume": "pcn.runs.training",
    "train": "pcn.runs.training",
}


def __getattr__(name: str) -> Any:
    return attribute_of(__name__, name, _MODULES)
