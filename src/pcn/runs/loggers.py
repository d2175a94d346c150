"""Opt-in logs beside the plain files: TensorBoard and Weights & Biases."""

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pcn.errors import UserError
from pcn.lookup import optional_module
from pcn.runs.events import Advanced, Event, Report, Started
from pcn.runs.progress import Evaluation
from pcn.serialisation.files import read_json, write_json

NAMES = {
    "executed_hypervolume": "eval/hypervolume",
    "executed_cardinality": "eval/cardinality",
    "fidelity": "eval/fidelity",
    "archive_hypervolume": "archive/hypervolume",
    "archive_cardinality": "archive/cardinality",
    "loss": "train/loss",
}
"""Our columns under the names that these logs usually have; the x axis is `global_step`."""


LOGS = "logs.json"
"""The file in a run's folder that records its logs, so that `resume` continues them."""


def logs_of(folder: Path, *, tensorboard_too: bool, project: str | None) -> list[Report]:
    """The logs that were chosen for a run; the choice is recorded in its folder."""
    chosen: dict[str, Any] = {}
    if tensorboard_too:
        chosen["tensorboard"] = True
    if project is not None:
        chosen["wandb"] = {"project": project, "id": uuid.uuid4().hex}

    def remember(event: Event) -> None:
        if isinstance(event, Started) and chosen and folder.is_dir():
            write_json(folder / LOGS, chosen)

    return [remember, *_reports(folder, chosen)]


def logs_again(folder: Path) -> list[Report]:
    """The logs that a run began with."""
    path = folder / LOGS
    chosen = read_json(path) if path.exists() else {}
    about = chosen.get("wandb", {"project": ""})
    known = isinstance(about, dict) and {"project"} <= about.keys() <= {"project", "id"}
    if not known or not all(isinstance(word, str) for word in about.values()):
        raise UserError(
            f"{path} is damaged: wandb is {about!r} instead of `project` and `id`, two words"
        )
    return _reports(folder, chosen)


def _reports(folder: Path, chosen: Mapping[str, Any]) -> list[Report]:
    reports = []
    if chosen.get("tensorboard"):
        reports.append(tensorboard(folder / "tensorboard"))
    if chosen.get("wandb"):
        reports.append(wandb(**chosen["wandb"]))
    return reports


def tensorboard(folder: Path) -> Report:
    """A report that writes TensorBoard events into `folder`, which is created with the first event.

    Where a run is resumed, events after its checkpoint are replaced.
    """
    module = optional_module("tensorboardX", extra="tensorboard")
    writer: Any = None
    resumed_at: int | None = None

    def report(event: Event) -> None:
        nonlocal writer, resumed_at
        if isinstance(event, Started) and event.steps > event.num_probe_steps:
            resumed_at = event.steps
        if not isinstance(event, Advanced) or event.evaluation is None:
            return
        if writer is None:
            purged = None if resumed_at is None else resumed_at + 1
            writer = module.SummaryWriter(str(folder), flush_secs=10, purge_step=purged)
        for name, value in scalars(event.evaluation).items():
            writer.add_scalar(name, value, event.steps)
        writer.flush()

    return report


def wandb(project: str, id: str | None = None) -> Report:
    """A report that logs to a Weights & Biases project, with every hyperparameter.

    With an `id`, a resumed run continues the same log.
    """
    module = optional_module("wandb", extra="wandb")
    run: Any = None

    def report(event: Event) -> None:
        nonlocal run
        if isinstance(event, Started):
            again = {} if id is None else {"id": id, "resume": "allow"}
            run = module.init(project=project, config=event.settings.to_json(), **again)
        elif isinstance(event, Advanced) and event.evaluation is not None:
            run.log({**scalars(event.evaluation), "global_step": event.steps})

    return report


def all_of(*reports: Report) -> Report:
    """A report that passes every event on to each of these."""

    def report(event: Event) -> None:
        for one in reports:
            one(event)

    return report


def scalars(evaluation: Evaluation) -> dict[str, float]:
    """An evaluation under the usual names."""
    return {public: float(getattr(evaluation, name)) for name, public in NAMES.items()}
