"""Turn the CSV files of `seeds.py` into Markdown: `python benchmarks/table.py --help`."""

import csv
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tyro

import pcn
from pcn.metrics import found_mask, hypervolume

Row = dict[str, str]


@dataclass
class Arguments:
    """Which tables to make of which files."""

    files: tyro.conf.Positional[list[Path]]
    """CSV files of `seeds.py`."""
    runs: Path | None = None
    """Folder in which `seeds.py` recorded the runs: adds what only their fronts tell."""
    reference: list[float] = field(default_factory=list)
    """A second reference point to measure hypervolume from; needs --runs."""
    means: bool = False
    """One line for all seeds of an environment and algorithm, mean ± standard deviation."""


def main(arguments: Arguments) -> None:
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for path in arguments.files:
        with path.open() as file:
            for row in csv.DictReader(file):
                groups[tuple(row[name] for name in ("environment", "algorithm", "preset"))].append(
                    row | of_run(row, arguments)
                )
    if arguments.means:
        lines = [
            {"environment": key[0], "algorithm": key[1]}
            | {name: mean([row[name] for row in rows], name) for name in measured(rows[0])}
            for key, rows in groups.items()
        ]
        print_table(lines)
        return
    for key, rows in groups.items():
        print(f"\n### {' '.join(key)}, {int(rows[0]['total_steps']):,} steps\n")
        print_table(
            [
                {"seed": row["seed"]}
                | {name: shown(float(row[name]), name) for name in measured(row)}
                for row in rows
            ]
        )


def of_run(row: Row, arguments: Arguments) -> Row:
    """What the front of a recorded run tells beyond its line of the CSV file."""
    if arguments.runs is None:
        return {}
    run = pcn.load(
        arguments.runs / f"{row['environment']}-{row['algorithm']}-{row['preset']}-{row['seed']}"
    )
    executed, spec = run.coverage_set.executed, run.spec
    told = {}
    if arguments.reference:
        told["hypervolume at the second point"] = str(
            hypervolume(executed, np.array(arguments.reference))
        )
    if spec.front is not None:
        front, tolerances = spec.front.returns, run.coverage_set.tolerances
        whole = hypervolume(front, np.asarray(spec.reference_point))
        told["front points"] = str(len(front))
        told["executed exactly"] = str(found_mask(executed, front, tolerances=tolerances).sum())
        told["share of the hypervolume"] = str(float(row["hypervolume"]) / whole)
    return told


DECIMALS = {
    "hypervolume": 4,
    "hypervolume at the second point": 4,
    "share of the hypervolume": 6,
    "epsilon": 3,
    "epsilon_mean": 4,
    "fidelity": 2,
    "cpu_seconds": 1,
}
"""Those of the columns that are no whole numbers."""


def measured(row: Row) -> list[str]:
    """The columns that are measured and known, in the order of the file."""
    given = {"environment", "algorithm", "preset", "total_steps", "seed", "archive_hypervolume"}
    return [name for name, value in row.items() if name not in given and value]


def shown(value: float, name: str) -> str:
    return f"{value:,.{DECIMALS.get(name, 0)}f}"


def mean(words: list[str], name: str) -> str:
    values = np.array([float(word) for word in words])
    digits = max(DECIMALS.get(name, 0), 1)
    return f"{values.mean():,.{digits}f} ± {values.std():,.{digits}f}"


def print_table(lines: list[dict[str, str]]) -> None:
    names = list(dict.fromkeys(name for line in lines for name in line))
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for line in lines:
        print(f"| {' | '.join(line.get(name, '') for name in names)} |")


if __name__ == "__main__":
    main(tyro.cli(Arguments))
