"""Run `executed_fronts.py` for every algorithm and id that is compared, one after the other.

    python benchmarks/peers/all_fronts.py --peer-python PEERS/bin/python --out peers.jsonl --core 1

What the file holds already is not run again, so it can be stopped and started at any time. With
`--table` nothing is run: the file is printed as a Markdown table.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Case(NamedTuple):
    """An id with the budget, discount and reference point of the comparison."""

    id: str
    steps: int
    discount: float
    reference_point: tuple[float, ...]
    executions: int = 30


GATHERING = Case("resource-gathering-v0", 100_000, 0.9, (-1, -1, -2), 100)
BOTTLES = Case("breakable-bottles-v0", 100_000, 1.0, (-100, 0, -1), 100)
FISHWOOD = Case("fishwood-v0", 100_000, 1.0, (0, 0))
FOUR_ROOM = Case("four-room-v0", 100_000, 0.95, (0, 0, 0), 1)
FRUIT_TREE = Case("fruit-tree-v0", 100_000, 0.99, (0,) * 6, 1)
TREASURE = Case("deep-sea-treasure-concave-v0", 100_000, 1.0, (0, -200), 1)
MINECART = Case("minecart-v0", 200_000, 1.0, (0, 0, -200))
STILL_MINECART = Case("minecart-deterministic-v0", 100_000, 1.0, (0, 0, -200), 1)
MOUNTAIN_CAR = Case("mo-mountaincar-v0", 100_000, 1.0, (-201, -201, -201))
LANDER = Case("mo-lunar-lander-v3", 200_000, 0.99, (-101, -1001, -101, -101))
HOPPER = Case("mo-hopper-v5", 300_000, 0.99, (-100, -100, -100))
CHEETAH = Case("mo-halfcheetah-v5", 300_000, 0.99, (-100, -500))
WALKER = Case("mo-walker2d-v5", 300_000, 0.99, (-100, -100))

CASES = [
    *(("pql", case) for case in (GATHERING, FRUIT_TREE, TREASURE)),
    *(
        ("pcn", case)
        for case in (
            GATHERING, BOTTLES, FISHWOOD, FOUR_ROOM, FRUIT_TREE, TREASURE, MINECART,
            STILL_MINECART, MOUNTAIN_CAR, LANDER, HOPPER, CHEETAH, WALKER,
        )
    ),
    ("pql", BOTTLES),
    *(("envelope", case) for case in (GATHERING, LANDER, MINECART)),
    *(("gpi-ls", case) for case in (GATHERING, LANDER, MINECART)),
]  # fmt: skip
"""PQL's table has no room for the states of four-room, needs observations that repeat, and on
fishwood its sets grow without end: the same two places come again and again at no cost."""
COLUMNS = ("id", "algorithm", "total_steps", "steps", "hypervolume", "policies", "cpu_seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--core", type=int, help="run on this core alone")
    parser.add_argument("--algorithms", nargs="+", default=["pql", "pcn", "envelope", "gpi-ls"])
    parser.add_argument("--ids", nargs="+", help="these alone")
    parser.add_argument("--most-seconds", type=float, help="give a case up after this long")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    found = [json.loads(line) for line in lines]
    if given.table:
        print("| " + " | ".join(COLUMNS) + " |")
        print("|---" * len(COLUMNS) + "|")
        for one in sorted(found, key=lambda one: (one["id"], one["algorithm"], one["seed"])):
            shown = {**one, "hypervolume": f"{one['hypervolume']:.6g}"}
            print("| " + " | ".join(str(shown[name]) for name in COLUMNS) + " |")
        return
    if given.core is not None:
        os.sched_setaffinity(0, {given.core})
    done = {(one["algorithm"], one["id"], one["seed"]) for one in found}
    for algorithm, case in CASES:
        if algorithm not in given.algorithms or (algorithm, case.id, given.seed) in done:
            continue
        if given.ids is not None and case.id not in given.ids:
            continue
        command = [
            given.peer_python, str(Path(__file__).with_name("executed_fronts.py")),
            algorithm, case.id, "--steps", str(case.steps), "--discount", str(case.discount),
            "--reference-point", *map(str, case.reference_point), "--seed", str(given.seed),
            "--executions", str(case.executions), "--out", str(given.out),
        ]  # fmt: skip
        print(algorithm, case.id, flush=True)
        try:
            environ = {**os.environ, "WANDB_MODE": "disabled"}
            subprocess.run(command, env=environ, check=False, timeout=given.most_seconds)
        except subprocess.TimeoutExpired:
            print(f"not finished after {given.most_seconds} s", flush=True)


if __name__ == "__main__":
    main()
