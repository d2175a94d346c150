"""What a training finds by id and steps alone, on MO-Gymnasium's ids: `--help` for the options.

The same ids, budgets, discounts and reference points as `peers/all_fronts.py`, so that the numbers
stand beside those of morl-baselines. Every final policy is executed afresh; the hypervolume is that
of the fresh means.

    python benchmarks/strangers.py --seeds 3 --first-seed 100 --core 1 --out strangers.jsonl
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

import pcn
from pcn.metrics import hypervolume
from peers.all_fronts import CASES, Case


def measure(case: Case, seed: int, executions: int) -> dict[str, object]:
    """Train once and execute afresh."""
    started = time.process_time()
    run = pcn.train(case.id, total_steps=case.steps, seed=seed)
    seconds = time.process_time() - started
    number = 1 if run.spec.deterministic else executions
    fresh, _ = run.execute(executions=number, seed=10_000 + seed)
    front = fresh.executed[fresh.front_mask]
    return {
        "id": case.id,
        "seed": seed,
        "total_steps": case.steps,
        "steps": run.metrics["steps"],
        "discount": run.settings.config.discount,
        "hypervolume": hypervolume(fresh.executed, np.array(case.reference_point, float)),
        "policies": len(fresh),
        "executions": number,
        "cpu_seconds": round(seconds, 1),
        "best": np.round(front.max(axis=0), 4).tolist(),
    }


def main() -> None:
    """Train, print and record."""
    cases = {case.id: case for _, case in CASES}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ids", nargs="+", default=list(cases), choices=list(cases))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--executions", type=int, default=100)
    parser.add_argument("--core", type=int, help="run on this core alone")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.core is not None:
        os.sched_setaffinity(0, {given.core})
    pcn.configure_jax()
    for name in given.ids:
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            result = measure(cases[name], seed, given.executions)
            print(json.dumps(result), flush=True)
            with given.out.open("a") as file:
                file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
