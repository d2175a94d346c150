"""How much of the truth a training finds: `python benchmarks/laboratory.py --help`.

Trains seeds of the laboratory's environments by name and steps alone, executes every final policy
afresh (1,000 times where the environment is stochastic) and compares what it returns in expectation
with the true front:

    python benchmarks/laboratory.py --env four-room --seeds 3 --steps 100000 --set capacity=200

`--env resource-gathering-v0` trains on MO-Gymnasium's own environment instead and is compared with
the same front. `share`: hypervolume of the executed means over that of the front. `points`: how
many points of the front some policy reaches, which is to miss no objective by more than 2 % of its
range on the front (and two standard errors of the executed mean).
"""

import ast
import csv
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tyro

import pcn
from pcn.envs import EnvironmentSpec, find_environment
from pcn.metrics.hypervolume import hypervolume
from pcn.recipes.laboratory import NAMES

CLOSE = 0.02


@dataclass
class Arguments:
    """Which trainings to make."""

    env: list[str] = field(default_factory=lambda: list(NAMES))
    """Environments of the laboratory, or their ids in MO-Gymnasium."""
    seeds: int = 3
    first_seed: int = 0
    steps: int = 100_000
    set: list[str] = field(default_factory=list)
    """Hyperparameters to change, as in `capacity=200 command_scale=(1,1,0.1)`."""
    argument: list[str] = field(default_factory=list)
    """Arguments of the environment, as in `depth=7`."""
    algorithm: str = "pcn"
    preset: str = "default"
    executions: int = 1000
    """Of each final policy, where the environment is stochastic."""
    core: int | None = None
    """Run on this core alone."""
    out: Path | None = None
    """CSV file to append every training to."""
    runs: Path | None = None
    """Folder to record the runs in."""


class Result(NamedTuple):
    """One training, compared with the truth."""

    environment: str
    seed: int
    share: float
    """Of the true hypervolume, by fresh executions."""
    reported_share: float
    """The same of what the run itself reports."""
    points: int
    of: int
    policies: int
    steps: int
    cpu_seconds: float


def literal(assignment: str) -> tuple[str, Any]:
    """A name and a value; what is no Python literal is a word."""
    name, _, value = assignment.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def points_reached(executed: np.ndarray, errors: np.ndarray, front: np.ndarray) -> int:
    """How many points of the front some policy comes close to in every objective."""
    spread = np.ptp(front, axis=0)
    allowed = CLOSE * np.where(spread > 0, spread, np.abs(front).max(axis=0)) + 2 * errors + 1e-6
    close = np.all(executed[None] + allowed[None] >= front[:, None], axis=2)
    return int(close.any(axis=1).sum())


def measure(
    name: str, truth: EnvironmentSpec, seed: int, options: dict[str, Any], given: Arguments
) -> Result:
    """Train once, execute afresh and compare."""
    started = time.process_time()
    out = None if given.runs is None else given.runs / f"{name}-{seed}"
    run = pcn.train(name, seed=seed, out=out, **options)
    seconds = time.process_time() - started
    executions = 1 if truth.deterministic else given.executions
    fresh, _ = run.execute(executions=executions, seed=10_000 + seed)
    front, reference_point = truth.front.returns, np.array(truth.reference_point)
    best = hypervolume(front, reference_point)
    return Result(
        name,
        seed,
        hypervolume(fresh.executed, reference_point) / best,
        hypervolume(run.coverage_set.executed, reference_point) / best,
        points_reached(fresh.executed, fresh.deviation / np.sqrt(executions), front),
        len(front),
        len(fresh),
        run.metrics["steps"],
        seconds,
    )


def append_row(file: Path, row: dict[str, object]) -> None:
    """Add a row to a CSV file, below a row of names where the file is new."""
    new = not file.exists()
    with file.open("a", newline="") as opened:
        writer = csv.DictWriter(opened, list(row))
        if new:
            writer.writeheader()
        writer.writerow(row)


def summary(name: str, results: list[Result]) -> str:
    """One line for an environment."""
    shares = np.array([result.share for result in results])
    complete = sum(result.points == result.of for result in results)
    return (
        f"{name}: share {shares.mean():.4f}, worst {shares.min():.4f}; all points in {complete} of "
        f"{len(results)}; {np.mean([result.steps for result in results]):,.0f} steps, "
        f"{np.median([result.cpu_seconds for result in results]):.1f} CPU s"
    )


def main(given: Arguments) -> None:
    """Train, measure and print."""
    if given.core is not None:
        os.sched_setaffinity(0, {given.core})
    pcn.configure_jax()
    summaries = []
    for name in given.env:
        arguments = dict(map(literal, given.argument))
        truth = find_environment(name.removesuffix("-v0"), arguments).environment.spec
        if truth.front is None:
            raise SystemExit(f"the front of {name} is not known")
        options = {
            "algorithm": given.algorithm,
            "preset": given.preset,
            "total_steps": given.steps,
            "discount": truth.front.discount,
            **dict(map(literal, given.set)),
        }
        if not name.endswith("-v0"):
            options["arguments"] = arguments
        results = []
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            result = measure(name, truth, seed, options, given)
            results.append(result)
            print(
                f"{name} seed {seed}: share {result.share:.4f} (reported "
                f"{result.reported_share:.4f}), points {result.points} of {result.of}, "
                f"{result.policies} policies, {result.steps:,} steps, "
                f"{result.cpu_seconds:.1f} CPU s",
                flush=True,
            )
            if given.out is not None:
                row = {**result._asdict(), "total_steps": given.steps, "set": " ".join(given.set)}
                append_row(given.out, row)
        summaries.append(summary(name, results))
    print("\n".join(["", *summaries]))


if __name__ == "__main__":
    main(tyro.cli(Arguments))
