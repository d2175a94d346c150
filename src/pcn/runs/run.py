"""A finished run: its policies, its figures, and how to act with what it learned."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pcn.algorithms import ALGORITHMS
from pcn.coverage import CoverageSet
from pcn.envs.environment import AbstractEnvironment
from pcn.errors import UserError
from pcn.runs.folder import RunFolder
from pcn.runs.measures import figures
from pcn.runs.policy import Policy
from pcn.runs.settings import Settings


@dataclass(frozen=True)
class Run:
    """What training ended in; `path` is None for a run that was not recorded on disk."""

    settings: Settings
    coverage_set: CoverageSet
    metrics: dict[str, Any]
    progress: tuple[list[str], list[list[Any]]]
    """Header and rows of the evaluations during training."""
    weights: dict[str, np.ndarray] = field(repr=False)
    path: Path | None = None

    def environment(self) -> AbstractEnvironment:
        """The environment that the run was trained on."""
        return self.settings.make()

    def policy(self, index: int) -> Policy:
        """The policy with that id in `coverage_set` and `front.csv`, at the start of an episode."""
        if not 0 <= index < len(self.coverage_set):
            raise UserError(
                f"there is no policy {index}; the run has policies 0 to "
                f"{len(self.coverage_set) - 1}"
            )
        environment = self.environment()
        agent = ALGORITHMS[self.settings.algorithm].agent(
            environment.spec, self.settings.config, self.weights, self.coverage_set, index
        )
        return Policy(agent, environment.spec, environment.reader())

    def executing(
        self, *, executions: int | None = None, seed: int = 1
    ) -> tuple[CoverageSet, dict[str, Any]]:
        """Execute every policy again: what they reach now, and the figures of it."""
        environment = self.environment()
        if executions is None:
            executions = 1 if environment.spec.deterministic else self.settings.config.executions
        coverage_set = ALGORITHMS[self.settings.algorithm].execute(
            environment,
            self.settings.config,
            self.weights,
            self.coverage_set,
            executions=executions,
            seed=seed,
        )
        archive = self.metrics["archive"]  # what was found in training stays what it was
        return coverage_set, {**figures(coverage_set, environment.spec), "archive": archive}


def load(path: str | Path) -> Run:
    """A finished run from its folder."""
    folder = RunFolder.open(Path(path))
    settings = folder.settings()
    if not folder.finished:
        raise UserError(f"{path} is not finished; continue it with `pcn resume {path}`")
    spec = settings.make().spec
    metrics = folder.read_metrics()
    return Run(
        settings=settings,
        coverage_set=folder.read_coverage_set(
            num_policies=metrics["policies"],
            num_objectives=spec.num_objectives,
            tolerance=settings.config.return_tolerance,
        ),
        metrics=metrics,
        progress=folder.read_progress(),
        weights=folder.read_weights(),
        path=folder.path,
    )
