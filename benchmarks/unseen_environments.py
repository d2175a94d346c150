"""What a training finds by environment and steps alone, on environments nobody tuned for.

Trains on the environments of `benchmarks/unseen/`, executes every final policy afresh (once where
outcomes are deterministic) and compares the means with the true front:

    python -m benchmarks.unseen_environments --env harvest ponds --seeds 2 --first-seed 100

`share`: hypervolume of the fresh means over that of the true front. `reported`: the same of what
the run itself reports, `requested`: of what its commands ask for. `points`: how many points of the
front some policy reaches, as in `laboratory.py`. `agree`: the share of policies whose reported and
fresh means differ by no more than chance. Where the truth is a convex hull, or means are noisy, a
share may exceed 1.
"""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tyro

import pcn
from benchmarks.laboratory import append_row, literal, points_reached
from benchmarks.unseen import UNSEEN
from pcn.coverage import agreeing_mask
from pcn.metrics import hypervolume


@dataclass
class Arguments:
    """Which trainings to make."""

    env: list[str] = field(default_factory=lambda: list(UNSEEN))
    seeds: int = 1
    first_seed: int = 0
    steps: int | None = None
    """The budget; each environment has one of its own."""
    set: list[str] = field(default_factory=list)
    """Hyperparameters to change, as in `capacity=200 routes=False`."""
    executions: int = 500
    """Of each final policy, where the environment is stochastic."""
    core: int | None = None
    """Run on this core alone."""
    out: Path | None = None
    """CSV file to append every training to."""
    runs: Path | None = None
    """Folder to record the runs in."""


def measure(name: str, front: np.ndarray, seed: int, given: Arguments) -> dict[str, object]:
    """Train once, execute afresh and compare."""
    make = UNSEEN[name]
    steps = make.steps if given.steps is None else given.steps
    out = None if given.runs is None else given.runs / f"{name}-{seed}"
    started = time.process_time()
    settings = {"discount": make.discount} if make.discount < 1 else {}
    settings |= dict(map(literal, given.set))
    run = pcn.train(make, total_steps=steps, seed=seed, out=out, **settings)
    seconds = time.process_time() - started
    executions = 1 if run.spec.deterministic else given.executions
    fresh, _ = run.execute(executions=executions, seed=10_000 + seed)
    reported = run.coverage_set
    reference_point = np.array(make.reference_point)
    best = hypervolume(front, reference_point)
    return {
        "environment": name,
        "seed": seed,
        "share": round(hypervolume(fresh.executed, reference_point) / best, 4),
        "reported": round(hypervolume(reported.executed, reference_point) / best, 4),
        "requested": round(hypervolume(reported.requested, reference_point) / best, 4),
        "points": points_reached(fresh.executed, fresh.deviation / np.sqrt(executions), front),
        "of": len(front),
        "policies": len(fresh),
        "agree": round(float(agreeing_mask(reported, fresh).mean()), 3),
        "deterministic": run.spec.deterministic,
        "step_limit": run.spec.step_limit,
        "steps": run.metrics["steps"],
        "cpu_seconds": round(seconds, 1),
        "set": " ".join(given.set),
    }


def main(given: Arguments) -> None:
    """Train, measure and print."""
    if given.core is not None:
        os.sched_setaffinity(0, {given.core})
    pcn.configure_jax()
    for name in given.env:
        front = UNSEEN[name].true_front()
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            result = measure(name, front, seed, given)
            print(" ".join(f"{key}={value}" for key, value in result.items()), flush=True)
            if given.out is not None:
                append_row(given.out, result)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
