"""Train one benchmark over many seeds and write a table: `python benchmarks/seeds.py --help`.

Every figure is of policies that were executed. Seconds are CPU seconds of the process after a
short first run has compiled everything.
"""

import ast
import csv
import resource
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import tyro

import pcn


@dataclass
class Arguments:
    """Which runs to make."""

    environment: str = "deep-sea-treasure"
    first_seed: int = 0
    num_seeds: int = 20
    algorithm: str = "pcn"
    preset: str = "default"
    total_steps: int | None = None
    out: Path | None = None
    """CSV file to append to; standard output when not given."""
    runs: Path | None = None
    """Folder to record the runs in."""
    set: list[str] = field(default_factory=list)
    """Hyperparameters to change, as in `action_noise=0.1 command_scale=(1,1,0.1)`."""


COLUMNS = [
    "environment", "algorithm", "preset", "total_steps", "seed", "hypervolume", "epsilon",
    "epsilon_mean", "cardinality", "fidelity", "archive_hypervolume", "steps",
    "cpu_seconds", "peak_mb",
]  # fmt: skip


def main(arguments: Arguments) -> None:
    pcn.configure_jax()
    options = {} if arguments.total_steps is None else {"total_steps": arguments.total_steps}
    for assignment in arguments.set:
        name, _, value = assignment.partition("=")
        options[name] = ast.literal_eval(value)
    options |= {"algorithm": arguments.algorithm, "preset": arguments.preset}
    pcn.train(arguments.environment, **{**options, "total_steps": 2_000})
    new = arguments.out is None or not arguments.out.exists()
    file = sys.stdout if arguments.out is None else arguments.out.open("a", newline="")
    writer = csv.writer(file)
    if new:
        writer.writerow(COLUMNS)
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.num_seeds):
        started = time.process_time()
        name = f"{arguments.environment}-{arguments.algorithm}-{arguments.preset}-{seed}"
        out = None if arguments.runs is None else arguments.runs / name
        run = pcn.train(arguments.environment, seed=seed, out=out, **options)
        seconds = time.process_time() - started
        executed = run.metrics["executed"]
        writer.writerow(
            [
                arguments.environment,
                arguments.algorithm,
                arguments.preset,
                run.settings.config.total_steps,
                seed,
                executed["hypervolume"],
                executed.get("epsilon"),
                executed.get("epsilon_mean"),
                executed["cardinality"],
                run.metrics["fidelity"]["exact"],
                run.metrics["archive"]["hypervolume"],
                run.metrics["steps"],
                round(seconds, 2),
                round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
            ]
        )
        file.flush()


if __name__ == "__main__":
    main(tyro.cli(Arguments))
