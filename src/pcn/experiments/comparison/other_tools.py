"""A CSV file of returns from any other tool, beside runs of the same environment."""

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.experiments.comparison.entrant import Entrant
from pcn.serialisation.files import read_csv

OPTIONAL = ("algorithm", "seed", "environment")
"""Columns that a file may have besides the objectives; without them it is one coverage set."""


def read_returns(path: Path, specs: Mapping[str, EnvironmentSpec]) -> list[Entrant]:
    """The coverage sets of a file: one for each environment, algorithm and seed in it.

    `specs` are the environments of the runs that the file stands beside. A row is the return of one
    policy, maximised in every objective, in columns with the objectives' names.
    """
    header, rows = read_csv(path)
    if not rows:
        raise UserError(f"{path} has no rows")
    if len(set(header)) < len(header):
        raise UserError(f"{path} has two columns of the same name")
    groups: dict[tuple[str, str, int], list[list[float]]] = defaultdict(list)
    only = None if "environment" in header else _environment_of(path, header, specs)
    for number, row in enumerate(rows, start=2):
        cells = dict(zip(header, row, strict=True))
        environment = only or cells["environment"]
        if environment not in specs:
            raise UserError(
                f"{path}, line {number}: no run is of {environment!r}; there are: "
                f"{', '.join(specs)}"
            )
        names = specs[environment].objective_names
        _check_columns(path, header, environment, names)
        label = cells.get("algorithm") or path.stem
        seed = _seed(path, number, cells.get("seed", "0"))
        groups[environment, label, seed].append(
            [_number(path, number, name, cells[name]) for name in names]
        )
    return [
        Entrant(environment, label, seed, path, np.array(returns, dtype=np.float64))
        for (environment, label, seed), returns in groups.items()
    ]


def _environment_of(path: Path, header: list[str], specs: Mapping[str, EnvironmentSpec]) -> str:
    """The one environment whose objectives are the columns."""
    given = {name for name in header if name not in OPTIONAL}
    fitting = [name for name, spec in specs.items() if given == set(spec.objective_names)]
    if len(fitting) > 1:
        raise UserError(
            f"{path} fits several environments: add a column `environment` that says one of "
            f"{', '.join(fitting)}"
        )
    if not fitting:
        if len(specs) == 1:
            ((name, spec),) = specs.items()
            _check_columns(path, header, name, spec.objective_names)
        wanted = "; ".join(
            f"{name}: {', '.join(spec.objective_names)}" for name, spec in specs.items()
        )
        raise UserError(f"{path} has the columns {', '.join(header)}; objectives are {wanted}")
    return fitting[0]


def _check_columns(path: Path, header: list[str], environment: str, names: tuple[str, ...]) -> None:
    given = [name for name in header if name not in OPTIONAL]
    if set(given) == set(names):
        return
    if len(given) != len(names):
        raise UserError(
            f"{path} has {len(given)} objectives ({', '.join(given)}), "
            f"{environment} has {len(names)}: {', '.join(names)}"
        )
    raise UserError(
        f"{path} must have the objectives of {environment} as columns, {', '.join(names)}; "
        f"it has {', '.join(given)}"
    )


def _seed(path: Path, line: int, word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise UserError(f"{path}, line {line}: seed must be a whole number, got {word!r}") from None


def _number(path: Path, line: int, name: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{path}, line {line}: {name} must be a finite number, got {word!r}")
    return value
