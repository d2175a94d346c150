"""Runs that are shown together: open and name them, and say why one cannot be watched."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pcn.envs.entry_points import installed_names
from pcn.envs.gymnasium_source import is_gymnasium_id
from pcn.envs.registry import ENVIRONMENTS
from pcn.errors import UserError
from pcn.runs.run import Run, load


@dataclass(frozen=True)
class ShownRun:
    """A run under the name that the page shows. Its weights are read when they are needed."""

    name: str
    run: Run
    is_on_disk: bool = False
    """Whether another process can open it and make its environment."""

    @cached_property
    def acting(self) -> Run:
        """The run with its weights."""
        if self.run.weights or self.run.path is None:
            return self.run
        return load(self.run.path)

    @cached_property
    def why_not_watched(self) -> str | None:
        """Why its policies cannot be executed here, in a sentence; None if they can.

        Neither the environment nor JAX is imported to find out.
        """
        run = self.run
        if run._environment is not None:
            return None
        if run.path is not None and not (run.path / "weights.npz").exists():
            return f"{self.name} has no weights.npz: its front is shown, but nothing can act."
        missing = missing_part(run.settings.environment)
        if missing is None:
            return None
        return (
            f"The environment {run.settings.environment} is not installed here ({missing}): "
            "its front is shown, but policies cannot be watched."
        )

    @property
    def takes_commands(self) -> bool:
        """Whether its policies are one network under different commands."""
        return self.run.takes_commands

    @property
    def why_not_asked(self) -> str | None:
        """Why it cannot be asked for a return of one's own, in a sentence; None if it can."""
        if self.why_not_watched is not None:
            return self.why_not_watched
        if not self.takes_commands:
            algorithm = self.run.settings.algorithm.upper()
            return (
                f"Policies of {algorithm} take no command: one can be picked, "
                "but no other return can be asked for."
            )
        return None


def missing_part(environment: str) -> str | None:
    """What is missing to create an environment of that name; None if nothing seems to be."""
    if environment in ENVIRONMENTS:
        absent = [name for name in ENVIRONMENTS[environment].packages if not _is_installed(name)]
        return f"no package {absent[0]}" if absent else None
    environment = installed_names().get(environment, environment)
    module, colon, thing = environment.partition(":")
    if colon:
        if not _is_installed(module):
            return f"no module {module}"
        return "it was defined in a function" if "<" in thing else None
    return None if is_gymnasium_id(environment) else "no such Gymnasium id"


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def open_runs(paths: Sequence[Path]) -> tuple[list[ShownRun], list[str]]:
    """The runs in these folders, and a sentence for each that cannot be shown.

    A `UserError` says why where no run is left, or where they are of different environments.
    """
    opened: dict[Path, Run] = {}
    left_out: list[str] = []
    for path, given in {path.resolve(): path for path in paths}.items():
        try:
            opened[path] = _open(path)
        except UserError as error:
            left_out.append(str(error).replace(str(path), str(given)))
    if not opened:
        raise UserError("; ".join(left_out))
    check_same_environment(list(opened.values()))
    names = _names(list(opened))
    runs = [
        ShownRun(name, run, is_on_disk=True)
        for name, run in zip(names, opened.values(), strict=True)
    ]
    return runs, left_out


def first_folder(paths: Sequence[Path], runs: Sequence[ShownRun]) -> Path:
    """The folder of the first shown run, as the user named it."""
    return next(path for path in paths if path.resolve() == runs[0].run.path)


def _open(path: Path) -> Run:
    if path.is_dir() and not any(path.iterdir()):
        raise UserError(f"{path} is an empty folder; `pcn train` creates runs")
    run = load(path, weights=False)
    if len(run.coverage_set) == 0:
        raise UserError(f"{path} has no policies")
    if run.coverage_set.executed.shape[1] != run.spec.num_objectives:
        raise UserError(f"{path} is damaged: front.csv and spec.json have different objectives")
    return run


def check_same_environment(runs: Sequence[Run]) -> None:
    """Refuse runs of different environments, whose returns cannot share a scale."""
    first = runs[0].spec
    for run in runs[1:]:
        other = run.spec
        if other.name != first.name:
            raise UserError(
                f"runs of one environment can be explored together, got {first.name} and "
                f"{other.name}"
            )
        if other.objectives != first.objectives:
            raise UserError(
                f"the runs of {first.name} have different objectives: "
                f"{', '.join(first.objective_names)} and {', '.join(other.objective_names)}"
            )
        discounts = runs[0].settings.discount, run.settings.discount
        if discounts[0] != discounts[1]:
            raise UserError(
                f"the runs of {first.name} have returns with different discounts: "
                f"{discounts[0]:g} and {discounts[1]:g}"
            )


def _names(paths: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths that are unique."""
    longest = max(len(path.parts) for path in paths)
    for length in range(1, longest + 1):
        names = ["/".join(path.parts[-length:]).lstrip("/") for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]
