"""Find runs on disk, and label them for a comparison."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pcn.errors import UserError
from pcn.experiments.comparison.entrant import Entrant
from pcn.metrics import METRICS
from pcn.runs.run import Run, load
from pcn.runs.settings import Settings


def run_folders(path: Path) -> list[Path]:
    """The folder itself if it is a run, otherwise every run below it; in the order of numbers."""
    if not path.exists():
        raise UserError(f"{path} does not exist; name folders of runs, which `pcn train` creates")
    if not path.is_dir():
        raise UserError(f"{path} is neither a folder of runs nor a .csv file")
    if (path / "config.json").exists():
        return [path]
    found = [
        config.parent
        for config in path.rglob("config.json")
        if not config.parent.name.startswith(".")  # a folder that is being made
    ]
    if not found:
        raise UserError(f"there is no run in {path}: none of its folders has a config.json")
    return sorted(found, key=_with_numbers)


def _with_numbers(path: Path) -> list[tuple[int, str]]:
    """A key that sorts seed-10 after seed-9."""
    parts = re.split(r"(\d+)", path.as_posix())
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def find_runs(paths: Sequence[Path]) -> tuple[list[Entrant], list[str]]:
    """Every finished run at or below the paths, and a line for each run that is left out."""
    entrants: list[Entrant] = []
    left_out: list[str] = []
    seen: set[Path] = set()
    for folder in (folder for path in paths for folder in run_folders(path)):
        if folder.resolve() in seen:
            continue
        seen.add(folder.resolve())
        try:
            entrants.append(_entrant(load(folder, weights=False), folder))
        except UserError as error:
            left_out.append(f"left out: {error}")
    return _with_experiment_names(_with_differences(entrants)), left_out


def _entrant(run: Run, folder: Path) -> Entrant:
    """A run with its names: from its path inside an experiment, otherwise from its settings."""
    if not run.is_executed:
        raise UserError(
            f"{folder} was NOT EXECUTED: it was learned from logged episodes without an environment"
        )
    for kind in ("executed", "archive"):
        if not isinstance(run.metrics[kind].get("hypervolume"), int | float):
            raise UserError(f"{folder / 'metrics.json'} is damaged: {kind} has no hypervolume")
    if not METRICS.keys() & run.metrics["executed"].keys():
        raise UserError(f"{folder / 'metrics.json'} is damaged: executed has no metrics")
    settings = run.settings
    discount = settings.hyperparameters.get("discount", 1.0)
    environment, label = _place(folder) or (run.spec.name, _base_label(settings))
    if discount != 1.0:  # Discounted returns cannot be compared with undiscounted ones.
        environment += f" (discount {discount:g})"
    return Entrant(environment, label, settings.seed, folder, run.coverage_set.executed, run)


def _place(folder: Path) -> tuple[str, str] | None:
    """Environment and label of `runs/<environment>/<label>/seed-<n>`."""
    *_, top, environment, label, seed = ("", "", "", *folder.resolve().parts)
    inside = top == "runs" and re.fullmatch(r"seed-\d+", seed)
    return (environment, label) if inside else None


def _study(folder: Path) -> Path | None:
    """The experiment that contains a run's folder."""
    return None if _place(folder) is None else folder.resolve().parents[3]


def _base_label(settings: Settings) -> str:
    preset = settings.preset
    return settings.algorithm + ("" if preset in (None, "default") else f"-{preset}")


def _with_differences(entrants: list[Entrant]) -> list[Entrant]:
    """Labels with the hyperparameters in which runs outside of experiments differ."""
    groups: dict[tuple[str, str, Path | None], list[dict[str, Any]]] = defaultdict(list)
    flat = [_hyperparameters(entrant) for entrant in entrants]
    for entrant, values in zip(entrants, flat, strict=True):
        groups[_group(entrant)].append(values)
    named = []
    for entrant, values in zip(entrants, flat, strict=True):
        others = groups[_group(entrant)]
        names = sorted({name for other in others for name in other})
        differing = [name for name in names if len({repr(other.get(name)) for other in others}) > 1]
        # If a refinement is off, its hyperparameters do not matter.
        shown_names = [
            name for name in differing if "." not in name or name.partition(".")[0] not in differing
        ]
        added = "".join(f"-{name}={_shown(values.get(name, False))}" for name in shown_names)
        named.append(replace(entrant, label=entrant.label + added))
    return named


def _group(entrant: Entrant) -> tuple[str, str, Path | None]:
    """The properties that the seeds of one label share."""
    return entrant.environment, entrant.label, _study(entrant.source)


def _with_experiment_names(entrants: list[Entrant]) -> list[Entrant]:
    """Labels with the experiment's name, where other runs have the same environment and label.

    They are not seeds of one setting: they were made at other times, perhaps by another version.
    """
    studies: dict[tuple[str, str], set[Path | None]] = defaultdict(set)
    for environment, label, study in map(_group, entrants):
        studies[environment, label].add(study)
    named = []
    for entrant in entrants:
        environment, label, study = _group(entrant)
        others = studies[environment, label] - {study}
        if study is not None and others:
            label = f"{label} ({shortest_name(study, others)})"
        named.append(replace(entrant, label=label))
    return named


def shortest_name(path: Path, others: Iterable[Path | None]) -> str:
    """As many of the last parts of a path as distinguish it from the others.

    >>> shortest_name(Path("a/study"), [Path("b/study")])
    'a/study'
    """
    ends = [other.parts for other in others if other is not None]
    number = 1
    while number < len(path.parts) and any(end[-number:] == path.parts[-number:] for end in ends):
        number += 1
    return Path(*path.parts[-number:]).as_posix()


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _hyperparameters(entrant: Entrant) -> dict[str, Any]:
    """Every hyperparameter by its own name; a refinement that is on has at least that name."""
    if entrant.run is None or _place(entrant.source) is not None:
        return {}
    return dict(_flattened(entrant.run.settings.hyperparameters))


def _flattened(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            if name != "refinements":
                yield name.replace("_", "-"), True
            yield from _flattened(value, "" if name == "refinements" else f"{name}.")
        else:
            yield f"{prefix}{name}".replace("_", "-"), value
