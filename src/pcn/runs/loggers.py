"""Opt-in logs beside the plain files: TensorBoard and Weights & Biases."""

from pathlib import Path
from typing import Any

from pcn.lookup import optional_module
from pcn.runs.events import Advanced, Event, Report, Started
from pcn.runs.progress import Evaluation

NAMES = {
    "executed_hypervolume": "eval/hypervolume",
    "executed_cardinality": "eval/cardinality",
    "fidelity": "eval/fidelity",
    "archive_hypervolume": "archive/hypervolume",
    "archive_cardinality": "archive/cardinality",
    "loss": "train/loss",
}
"""The field's names for our columns; the x axis is `global_step`."""


def tensorboard(folder: Path) -> Report:
    """A report that writes events into `folder`, which is made with the first of them."""
    module = optional_module("tensorboardX", extra="tensorboard")
    writer: Any = None

    def report(event: Event) -> None:
        nonlocal writer
        if not isinstance(event, Advanced) or event.evaluation is None:
            return
        if writer is None:
            writer = module.SummaryWriter(str(folder), flush_secs=10)
        for name, value in scalars(event.evaluation).items():
            writer.add_scalar(name, value, event.steps)
        writer.flush()

    return report


def wandb(project: str) -> Report:
    """A report that logs to a Weights & Biases project, every hyperparameter included."""
    module = optional_module("wandb", extra="wandb")
    run: Any = None

    def report(event: Event) -> None:
        nonlocal run
        if isinstance(event, Started):
            run = module.init(project=project, config=event.settings.to_json())
        elif isinstance(event, Advanced) and event.evaluation is not None:
            run.log({**scalars(event.evaluation), "global_step": event.steps})

    return report


def scalars(evaluation: Evaluation) -> dict[str, float]:
    """An evaluation under the field's names."""
    return {public: float(getattr(evaluation, name)) for name, public in NAMES.items()}
