"""The record of a training: evaluations, times, steps and notices, as checkpoints keep them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pcn.algorithms.trainer import Progress
from pcn.envs.spec import EnvironmentSpec
from pcn.runs.measures import metrics_of
from pcn.runs.progress import Evaluation


@dataclass
class Record:
    """The record of a training, besides the trainer's own state."""

    evaluations: list[Evaluation] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    phases: Counter[str] = field(default_factory=Counter)
    """Environment steps of each phase."""
    notices: list[str] = field(default_factory=list)
    """The notices to the user."""

    def to_json(self) -> dict[str, Any]:
        """The form in which a checkpoint stores it."""
        return {
            "rows": [evaluation.row() for evaluation in self.evaluations],
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "phases": dict(self.phases),
            "notices": self.notices,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any], steps: int) -> "Record":
        """The record of a checkpoint; in format 1 all `steps` belong to training."""
        return cls(
            [Evaluation.of_row(row) for row in content["rows"]],
            content["seconds"],
            content.get("cpu_seconds", 0.0),  # absent in the checkpoints of older runs
            Counter(content.get("phases", {"training": steps})),
            list(content.get("notices", [])),
        )


def evaluation_of(progress: Progress, seconds: float, spec: EnvironmentSpec) -> Evaluation | None:
    """The row of `progress.csv` for an iteration; None if nothing was executed in it."""
    if progress.execution is None:
        return None
    # A command that was stuck in this evaluation is still in the archive.
    archive = progress.archive if progress.execution.num_stopped else None
    metrics = metrics_of(progress.execution, spec, archive)
    return Evaluation(
        steps=progress.steps,
        seconds=round(seconds, 3),
        loss=progress.loss,
        archive_hypervolume=metrics["archive"]["hypervolume"],
        archive_cardinality=metrics["archive"]["cardinality"],
        executed_hypervolume=metrics["executed"]["hypervolume"],
        executed_cardinality=metrics["executed"]["cardinality"],
        fidelity=metrics["fidelity"]["exact"],
    )
