"""Opt-in logs beside the plain files: TensorBoard and Weights & Biases."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pcn.errors import UserError
from pcn.runs.training import Report

NAMES = {
    "executed_hypervolume": "eval/hypervolume",
    "executed_cardinality": "eval/cardinality",
    "fidelity": "eval/fidelity",
    "archive_hypervolume": "archive/hypervolume",
    "archive_cardinality": "archive/cardinality",
    "loss": "train/loss",
}
"""The field's names for our columns; the x axis is `global_step`."""


def tensorboard(folder: Path) -> Callable[[Report], None]:
    """Write events into `folder`, which is made with the first of them."""
    module = _need("tensorboardX", "tensorboard")
    writer: Any = None

    def report(report: Report) -> None:
        nonlocal writer
        if report.evaluation is None:
            return
        if writer is None:
            writer = module.SummaryWriter(str(folder), flush_secs=10)
        for name, value in scalars(report.evaluation).items():
            writer.add_scalar(name, value, report.steps)
        writer.flush()

    return report


def wandb(project: str, config: Mapping[str, Any]) -> Callable[[Report], None]:
    """Log to a Weights & Biases project."""
    module = _need("wandb", "wandb")
    run = module.init(project=project, config=dict(config))

    def report(report: Report) -> None:
        if report.evaluation is not None:
            run.log({**scalars(report.evaluation), "global_step": report.steps})

    return report


def scalars(evaluation: Mapping[str, float]) -> dict[str, float]:
    """An evaluation under the field's names."""
    return {public: float(evaluation[name]) for name, public in NAMES.items()}


def _need(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UserError(f"{module} is not installed: pip install 'pcn[{extra}]'") from None
