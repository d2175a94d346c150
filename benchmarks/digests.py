"""Digests of what trainings write: for the same seed and settings they must not move.

Each case is trained in a process of its own, through the command line. Compare the tables of two
commits to show that a change left every result as it was:

    python benchmarks/digests.py --out before.txt
    python benchmarks/digests.py --out after.txt --only dst walkroom-4
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = {
    "dst": "deep-sea-treasure --seed 1",
    "dst-paper": "deep-sea-treasure --preset paper --seed 1",
    "dst-authors": "deep-sea-treasure --preset authors --seed 1",
    "minecart": "minecart --total-steps 300000 --seed 1",
    "minecart-paper": "minecart --preset paper --total-steps 100000 --seed 1",
    "minecart-authors": "minecart --preset authors --total-steps 100000 --seed 1",
    "minecart-stochastic": "minecart-stochastic --total-steps 60000 --seed 1",
    "walkroom-4": "walkroom-4 --seed 1",
    "walkroom-arguments": "walkroom --objectives 3 --room-seed 5 --total-steps 40000 --seed 1",
    "gymnasium": "deep-sea-treasure-v0 --total-steps 20000 --seed 1",
    "gymnasium-workers": "deep-sea-treasure-v0 --total-steps 20000 --seed 1 "
    "--workers --environments 4",
    "gymnasium-stochastic": "resource-gathering-v0 --total-steps 20000 --seed 1",
    "gymnasium-vectors": "minecart-deterministic-v0 --total-steps 20000 --seed 1",
    "crossroad-authors": "crossroad-authors --total-steps 20000 --seed 1",
    "mones-dst": "deep-sea-treasure --algorithm mones --total-steps 200000 --seed 1",
    "mones-minecart": "minecart --algorithm mones --total-steps 300000 --seed 1",
    "mones-gymnasium": "deep-sea-treasure-v0 --algorithm mones --total-steps 20000 --seed 1",
    "mones-stochastic": "minecart-stochastic --algorithm mones --total-steps 100000 --seed 1",
    "ra-dst": "deep-sea-treasure --algorithm ra --total-steps 200000 --seed 1",
    "ra-minecart": "minecart --algorithm ra --total-steps 300000 --seed 1",
    "ra-gymnasium": "deep-sea-treasure-v0 --algorithm ra --total-steps 20000 --seed 1",
    "ra-crossroad": "crossroad-authors --algorithm ra --total-steps 5000 --seed 1",
}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    parser.add_argument("--only", nargs="*", help="only these cases")
    options = parser.parse_args()
    lines = []
    for name, arguments in CASES.items():
        if options.only and name not in options.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            command = [sys.executable, "-m", "pcn", "train", *arguments.split(), "--out", str(run)]
            started = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                lines.append(f"{name:22} failed: {done.stderr.strip().splitlines()[-1]}")
            else:
                weights, front = digest(run / "weights.npz"), digest(run / "front.csv")
                lines.append(f"{name:22} weights {weights}  front {front}")
        print(lines[-1], f" {time.perf_counter() - started:.0f} s", flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
