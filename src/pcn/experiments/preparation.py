"""Check every run of a plan, and compare the plan with what its folder holds."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pcn.envs.failures import close_all
from pcn.errors import UserError
from pcn.experiments.plan import PLAN_FILE, Plan, PlannedRun
from pcn.metrics import pygmo_for
from pcn.runs.folder import RunFolder
from pcn.runs.settings import Settings
from pcn.runs.settling import settle


@dataclass(frozen=True)
class Preparation:
    """A plan that can be carried out in a folder."""

    plan: Plan
    folder: Path
    total_steps: Mapping[tuple[str, str], int]
    """Steps of each training by group and label."""
    finished: tuple[PlannedRun, ...]
    """Runs that need not be carried out."""
    begun: tuple[PlannedRun, ...]
    """Runs that are continued from their checkpoints."""
    left: tuple[str, ...]
    """Runs of the folder's earlier plan that this plan does not have."""
    changed: bool
    """Whether the folder had another plan before."""

    @property
    def missing(self) -> tuple[PlannedRun, ...]:
        """Runs that are to be begun or continued."""
        done = {run.place for run in self.finished}
        return tuple(run for run in self.plan.runs if run.place not in done)

    def steps_of(self, run: PlannedRun) -> int:
        """Steps of a run's training."""
        return self.total_steps[run.group, run.label]

    @property
    def sentence(self) -> str:
        """A sentence on the runs that are kept; empty if the folder holds none."""
        if not (self.changed or self.finished or self.begun):
            return ""
        new = len(self.missing) - len(self.begun)
        parts = [
            f"keeps {len(self.finished)} finished {_runs(len(self.finished))}",
            f"continues {len(self.begun)}",
            f"begins {new}",
        ]
        if self.left:
            parts.append(
                f"leaves {len(self.left)} where they are that are not part of it "
                f"({', '.join(self.left[:3])}{', ...' if len(self.left) > 3 else ''})"
            )
        return f"The {'changed ' * self.changed}plan {', '.join(parts)}."


def prepare(plan: Plan, folder: Path) -> Preparation:
    """Check every run of a plan, and compare it with what a folder holds; nothing is written.

    Raises a `UserError` for an unknown environment, algorithm, preset or hyperparameter, and for a
    folder that holds a run of the same name with other settings.
    """
    settings = _settle_all(plan.runs)
    finished: list[PlannedRun] = []
    begun: list[PlannedRun] = []
    for run in plan.runs:
        path = folder / run.place
        if not path.exists():
            continue
        there = RunFolder.open(path)
        _refuse_other_settings(run, settings[run.group, run.label], there)
        (finished if there.finished else begun).append(run)
    before = Plan.read(folder) if (folder / PLAN_FILE).exists() else None
    places = {run.place for run in plan.runs}
    return Preparation(
        plan=plan,
        folder=folder,
        total_steps={key: found.config.total_steps for key, found in settings.items()},
        finished=tuple(finished),
        begun=tuple(begun),
        left=()
        if before is None
        else tuple(run.place.as_posix() for run in before.runs if run.place not in places),
        changed=before is not None and before.runs != plan.runs,
    )


def _settle_all(runs: Iterable[PlannedRun]) -> dict[tuple[str, str], Settings]:
    """The settings of one run of each group and label; the others differ only in their seeds."""
    settings: dict[tuple[str, str], Settings] = {}
    started: set[str] = set()
    for run in runs:
        key = run.group, run.label
        if key in settings:
            continue
        settled = settle(dataclasses.replace(run.request, out=None))
        try:
            pygmo_for(settled.spec.num_objectives)
            if run.group not in started:  # refused now, and not by every run
                settled.environment.prepare()
                started.add(run.group)
        finally:
            close_all([settled.environment], settled.spec.name)
        settings[key] = settled.settings
    return settings


def _refuse_other_settings(run: PlannedRun, expected: Settings, folder: RunFolder) -> None:
    """Raise a `UserError` if a folder holds another run than the plan's."""
    there = folder.read_settings()
    wanted: dict[str, Any] = {
        "environment": expected.environment,
        "algorithm": expected.algorithm,
        "preset": expected.preset,
        "seed": run.request.seed,
    }
    differing = [
        (name, getattr(there, name), value)
        for name, value in wanted.items()
        if getattr(there, name) != value
    ]
    for mapping, recorded in (
        (run.request.arguments, there.arguments),
        # A setting that an older version did not record has the value that means its behaviour.
        (expected.config.to_json(), there.config.to_json()),
    ):
        differing += [
            (name, recorded.get(name), value)
            for name, value in mapping.items()
            if recorded.get(name) != value
        ]
    if differing:
        name, was, now = differing[0]
        raise UserError(
            f"{folder.path} has {name} {was!r}, the plan has {now!r}: choose another --out, "
            "nothing there was changed"
        )


def _runs(number: int) -> str:
    return "run" if number == 1 else "runs"
