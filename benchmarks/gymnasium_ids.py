"""Train MO-Gymnasium environments by their id alone and print a Markdown table.

`python benchmarks/gymnasium_ids.py --out table.csv [--ids ID ...]`; mo-lunar-lander-v3, mo-reacher
and mo-highway need `pip install 'pcn[gymnasium]'`. `--works` says which ids can be trained on.
"""

import csv
import time
from dataclasses import dataclass, field
from pathlib import Path

import gymnasium as gym
import mo_gymnasium  # noqa: F401 (registers its ids)
import numpy as np
import tyro

import pcn
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.nets.heads import action_head_for

BUDGETS = {
    "deep-sea-treasure-v0": 50_000,
    "deep-sea-treasure-mirrored-v0": 100_000,
    "resource-gathering-v0": 100_000,
    "four-room-v0": 100_000,
    "fruit-tree-v0": 50_000,
    "breakable-bottles-v0": 100_000,
    "fishwood-v0": 100_000,
    "minecart-deterministic-v0": 300_000,
    "mo-mountaincar-v0": 200_000,
    "mo-mountaincar-timemove-v0": 200_000,
    "mo-lunar-lander-v3": 100_000,
    "minecart-rgb-v0": 100_000,
}
COLUMNS = [
    "id", "objectives", "deterministic", "discount", "steps", "executed_points", "fidelity",
    "archive_points", "claimed_points", "claimed_reached", "hypervolume", "cpu_seconds",
]  # fmt: skip


@dataclass
class Arguments:
    """Which environments."""

    out: Path = Path("gymnasium.csv")
    """CSV file to append to."""
    ids: list[str] = field(default_factory=lambda: list(BUDGETS))
    seed: int = 0
    runs: Path | None = None
    """Folder to record the runs in."""
    works: tyro.conf.FlagCreatePairsOff[bool] = False
    """Only print, for every id of MO-Gymnasium, whether it can be made and trained on."""


def reached(claimed: np.ndarray, executed: np.ndarray) -> int:
    """How many claimed points are equalled or dominated by an executed one."""
    return int(np.all(executed[None] >= claimed[:, None] - 1e-3, axis=2).any(axis=1).sum())


def print_what_works() -> None:
    """One line per id: trainable, continuous, or what is missing."""
    for name, spec in gym.registry.items():
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


def main(arguments: Arguments) -> None:
    pcn.configure_jax()
    if arguments.works:
        print_what_works()
        return
    new = not arguments.out.exists()
    with arguments.out.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(COLUMNS)
        for name in arguments.ids:
            started = time.process_time()
            out = None if arguments.runs is None else arguments.runs / name
            run = pcn.train(name, seed=arguments.seed, total_steps=BUDGETS[name], out=out)
            spec = run.spec
            claimed = None if spec.front is None else spec.front.returns
            writer.writerow(
                [
                    name,
                    spec.num_objectives,
                    spec.deterministic,
                    run.settings.config.discount,
                    run.metrics["steps"],
                    run.metrics["executed"]["cardinality"],
                    round(run.metrics["fidelity"]["exact"], 3),
                    run.metrics["archive"]["cardinality"],
                    "" if claimed is None else len(claimed),
                    "" if claimed is None else reached(claimed, run.coverage_set.executed),
                    f"{run.metrics['executed']['hypervolume']:.6g}",
                    round(time.process_time() - started, 1),
                ]
            )
            file.flush()


if __name__ == "__main__":
    main(tyro.cli(Arguments))
