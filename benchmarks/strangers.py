"""What a training finds by id and steps alone, on MO-Gymnasium's ids: `--help` for the options.

Ids that morl-baselines is run on have the same budgets, discounts and reference points as in
`peers/all_fronts.py`, so that the numbers stand beside those of morl-baselines. Every final policy
is executed afresh; the hypervolume is that of the fresh means.

    python benchmarks/strangers.py --seeds 3 --first-seed 100 --core 1 --out strangers.jsonl
    python benchmarks/strangers.py --table --out strangers.jsonl

`pip install 'pcn[gymnasium]'` brings what lunar-lander, reacher and highway need. `--works` says
which ids can be trained on.
"""

import argparse
import json
import os
import time
from pathlib import Path

import gymnasium as gym
import mo_gymnasium  # noqa: F401 (registers its ids)
import numpy as np

import pcn
from pcn.envs import find_environment
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.metrics import hypervolume
from pcn.nets.heads import action_head_for
from peers.all_fronts import CASES, Case

ALONE = (
    Case("deep-sea-treasure-v0", 100_000, 1.0, (0, -200)),
    Case("deep-sea-treasure-mirrored-v0", 100_000, 1.0, (0, -200)),
    Case("mo-mountaincar-3d-v0", 100_000, 1.0, (-201, -201, -201)),
    Case("mo-mountaincar-timemove-v0", 100_000, 1.0, (-201, -201)),
    Case("mo-mountaincar-timespeed-v0", 100_000, 1.0, (-201, -1)),
    Case("mo-reacher-v5", 20_000, 0.99, (-50, -50, -50, -50)),
    Case("mo-highway-fast-v0", 3_000, 1.0, (-1, -1, -1)),
    Case("mo-highway-v0", 1_000, 1.0, (-1, -1, -1)),
    Case("minecart-rgb-v0", 20_000, 1.0, (0, 0, -200)),
)
"""Ids with discrete actions that morl-baselines is not run on; some simulators are slow."""
TRUTHS = {
    "resource-gathering-v0": "resource-gathering",
    "breakable-bottles-v0": "breakable-bottles",
    "fishwood-v0": "fishwood",
    "four-room-v0": "four-room",
    "fruit-tree-v0": "fruit-tree",
    "deep-sea-treasure-concave-v0": "deep-sea-treasure",
    "minecart-v0": "minecart",
    "minecart-deterministic-v0": "minecart",
    "minecart-rgb-v0": "minecart",
}
"""Compiled environments that have the true front of an id, or an upper bound of it: the stochastic
minecarts are compared with the front of the deterministic one."""
COLUMNS = ("id", "seed", "steps", "hypervolume", "share", "policies", "cpu_seconds")


def measure(case: Case, seed: int, executions: int) -> dict[str, object]:
    """Train once and execute afresh."""
    started = time.process_time()
    run = pcn.train(case.id, total_steps=case.steps, seed=seed, discount=case.discount)
    seconds = time.process_time() - started
    number = 1 if run.spec.deterministic else executions
    fresh, _ = run.execute(executions=number, seed=10_000 + seed)
    front = fresh.executed[fresh.front_mask]
    reference_point = np.array(case.reference_point, float)
    found = hypervolume(fresh.executed, reference_point)
    share = None
    if case.id in TRUTHS:
        truth = find_environment(TRUTHS[case.id], {}).environment.spec.front
        share = found / hypervolume(truth.returns, reference_point)
    return {
        "id": case.id,
        "seed": seed,
        "total_steps": case.steps,
        "steps": run.metrics["steps"],
        "discount": run.settings.config.discount,
        "hypervolume": found,
        "share": share,
        "policies": len(fresh),
        "executions": number,
        "cpu_seconds": round(seconds, 1),
        "best": np.round(front.max(axis=0), 4).tolist(),
    }


def print_what_works() -> None:
    """One line per id: trainable, continuous, or what is missing."""
    for name, spec in list(gym.registry.items()):  # packages register their own when imported
        if not str(spec.entry_point).startswith("mo_gymnasium"):
            continue
        source = GymnasiumSource.by_id(name)
        try:
            action_head_for(source.instance().action_space)
        except pcn.UserError as error:
            print(f"{name}: no, {error}")
        else:
            print(f"{name}: yes")
        source.close()


def print_table(out: Path) -> None:
    """What the file holds, as a Markdown table."""
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---" * len(COLUMNS) + "|")
    for one in map(json.loads, out.read_text().splitlines()):
        share = one.get("share")
        shown = {
            **one,
            "steps": f"{one['steps']:,}",
            "hypervolume": f"{one['hypervolume']:.6g}",
            "share": "" if share is None else f"{share:.3f}",
        }
        print("| " + " | ".join(str(shown[name]) for name in COLUMNS) + " |")


def main() -> None:
    """Train, print and record."""
    cases = {case.id: case for case in (*(case for _, case in CASES), *ALONE)}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ids", nargs="+", default=list(cases), choices=list(cases))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--executions", type=int, default=100)
    parser.add_argument("--core", type=int, help="run on this core alone")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", action="store_true", help="print what the file holds")
    parser.add_argument("--works", action="store_true", help="say which ids can be trained on")
    given = parser.parse_args()
    if given.works:
        print_what_works()
        return
    if given.out is None:
        parser.error("--out is missing")
    if given.table:
        print_table(given.out)
        return
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
