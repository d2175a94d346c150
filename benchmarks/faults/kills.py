"""Kill trainings with SIGKILL at random moments, resume them, and compare with undisturbed ones.

Each case is trained once undisturbed. Then it is started and killed again and again until it ends;
weights and front must be the same bit for bit:

    python benchmarks/faults/kills.py --kills 100 --out kills.txt
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CASES = {
    "pcn, compiled": "deep-sea-treasure --total-steps 30000",
    "mones, compiled": "deep-sea-treasure --algorithm mones --total-steps 60000",
    "ra, compiled": "deep-sea-treasure --algorithm ra --total-steps 60000",
    "pcn, Gymnasium with workers": "deep-sea-treasure-v0 --total-steps 6000 --workers "
    "--environments 2",
    "pcn, SUMO": "crossroad-authors --total-steps 2000 --simulators 2",
}
RESULTS = ("weights.npz", "front.csv")


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pcn", *arguments, "--checkpoint-seconds", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"{process.args} failed: {said[-500:]}")


def killed(case: str, run: Path, kills: int, duration: float, rng: np.random.Generator) -> int:
    """Train with that many kills at most; says how many there were."""
    done = 0
    command = ("train", *CASES[case].split(), "--seed", "1", "--out", str(run))
    while not (run / "metrics.json").exists():
        process = start(*command)
        if done >= kills:
            finish(process)
            break
        try:
            # From the first import to beyond the end of an undisturbed training.
            process.wait(timeout=rng.uniform(0, duration))
            finish(process)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            done += 1
        if (run / "config.json").exists():
            command = ("resume", str(run))
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="kills in all, over all cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="only these cases")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    rng, lines = np.random.default_rng(options.seed), []
    cases = [case for case in CASES if not options.only or case in options.only]
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            undisturbed = Path(folder) / "undisturbed"
            began = time.monotonic()
            finish(start("train", *CASES[case].split(), "--seed", "1", "--out", str(undisturbed)))
            duration = time.monotonic() - began
            wanted, done, rounds = -(-options.kills // len(cases)), 0, 0
            while done < wanted:
                run = Path(folder) / f"killed-{rounds}"
                done += killed(case, run, wanted - done, duration, rng)
                rounds += 1
                for name in RESULTS:
                    if (run / name).read_bytes() != (undisturbed / name).read_bytes():
                        raise SystemExit(f"{case}: {name} differs after {done} kills")
                print(f"{case}: {done} kills in {rounds} trainings, all equal so far", flush=True)
        lines.append(f"{case:30} {done:4} kills  {rounds:4} trainings  all bit-identical")
        print(lines[-1], flush=True)
        if options.out is not None:
            options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
