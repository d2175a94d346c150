"""Disturb `pcn reproduce`, and compare its tables with those of an undisturbed one.

Once it is killed in the middle with all that it started, and started again. Once it runs on a Ray
cluster of two nodes on this machine, one of which is killed while a run with a checkpoint is on
it. Tables, the numbers behind the figures, fronts and weights must be the same byte for byte:

    python benchmarks/faults/reproductions.py --out FOLDER

This needs `pip install 'pcn[ray]'`. The studies stay in the folder.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from ray.cluster_utils import Cluster

STUDY = ("reproduce", "dst", "--scale", "0.1", "--seeds", "2", "--checkpoint-seconds", "0")
COMPARED = ("table1.*", "figures/*.csv", "runs/**/front.csv", "runs/**/weights.npz")
MEMORY = {"object_store_memory": 100 * 2**20}


def start(folder: Path, *options: str) -> subprocess.Popen:
    """Start the study in a process group of its own; what it prints goes to a file beside it."""
    with Path(f"{folder}.log").open("a") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "pcn", *STUDY, "--out", str(folder), *options],
            stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip


def finish(study: subprocess.Popen) -> None:
    if study.wait() != 0:
        raise SystemExit(f"{' '.join(study.args)} failed")


def halfway(folder: Path, *, finished: int) -> Path:
    """Wait until so many runs are finished and another one has a checkpoint; that run."""
    while True:
        unfinished = [
            path.parent
            for path in folder.glob("runs/**/checkpoint.npz")
            if not (path.parent / "front.csv").exists() and [*path.parent.glob(".writer-*")]
        ]
        if len([*folder.glob("runs/**/front.csv")]) >= finished and unfinished:
            return unfinished[0]
        time.sleep(0.02)


def parent_of(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"PPid:\s+(\d+)", status)[1])


def killed(folder: Path) -> str:
    """The study, killed in the middle and started again."""
    study = start(folder, "--jobs", "2")
    run = halfway(folder, finished=2)
    os.killpg(study.pid, signal.SIGKILL)
    study.wait()
    before = {path: path.stat().st_mtime_ns for path in folder.glob("runs/**/front.csv")}
    finish(start(folder, "--jobs", "2"))
    repeated = [path for path, written in before.items() if path.stat().st_mtime_ns != written]
    return (
        f"killed at {run.relative_to(folder)} with {len(before)} runs finished, "
        f"{len(repeated)} of which were repeated"
    )


def node_killed(folder: Path) -> str:
    """The study on two nodes, one of which is killed."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **MEMORY})
    try:
        nodes = [cluster.add_node(num_cpus=1, **MEMORY) for _ in range(2)]
        study = start(folder, "--ray", cluster.address)
        run = halfway(folder, finished=2)
        [owner] = run.glob(".writer-*/owner.json")
        raylet = parent_of(json.loads(owner.read_text())["pid"])
        [node] = [one for one in nodes if one.all_processes["raylet"][0].process.pid == raylet]
        cluster.remove_node(node, allow_graceful=False)
        finish(study)
    finally:
        cluster.shutdown()
    return f"node killed under {run.relative_to(folder)}"


def compared(folder: Path, other: Path) -> str:
    """How many files are the same, and which are not."""
    files = [path.relative_to(folder) for one in COMPARED for path in sorted(folder.glob(one))]
    differ = [
        str(file)
        for file in files
        if not (other / file).exists()
        or (folder / file).read_bytes() != (other / file).read_bytes()
    ]
    return f"{len(files) - len(differ)} of {len(files)} files are the same {', '.join(differ)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True)
    finish(start(out / "undisturbed", "--jobs", "2"))
    for disturb in (killed, node_killed):
        happened = disturb(out / disturb.__name__)
        same = compared(out / "undisturbed", out / disturb.__name__)
        print(f"{happened}: {same}", flush=True)


if __name__ == "__main__":
    main()
