"""Kill trainings with SIGKILL at random moments, resume them, and compare with undisturbed ones.

Each case is trained once undisturbed. Then it is started and killed again and again until it ends;
weights and front must be the same bit for bit. One kill in five comes at any moment since the
start of the process, the others come after its first line, when imports are done. The last line
that a training printed, and its checkpoint, tell in which part a kill came. After each kill no
process that the training started may be left, and nothing but `pcn resume` mends the folder, its
lock included:

    python benchmarks/faults/kills.py --kills 108 --out kills.txt

With `--part` all kills come in one part, as soon as a checkpoint tells that it has been reached,
or a moment later; policies are then executed two at a time, so that this takes a while:

    python benchmarks/faults/kills.py --kills 10 --part executing --only "pcn, compiled"

Set PCN_CACHE to a folder of its own to measure with compiled programs that are kept.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

PCN = "--consolidation.updates 1000"
MONES = "--algorithm mones --population 8 --final-draws 12 --initial-deviation 0.1"
RA = "--algorithm ra --intervals 3 --episodes-per-update 4"
GYMNASIUM = "deep-sea-treasure-v0 --workers --environments 2"
SUMO = "crossroad-authors --simulators 2"
CASES = {
    "pcn, compiled": f"deep-sea-treasure --total-steps 1000 {PCN}",
    "mones, compiled": f"deep-sea-treasure --total-steps 1500 {MONES}",
    "ra, compiled": f"deep-sea-treasure --total-steps 1500 {RA}",
    "pcn, Gymnasium with workers": f"{GYMNASIUM} --total-steps 800 {PCN}",
    "mones, Gymnasium with workers": f"{GYMNASIUM} --total-steps 1000 {MONES}",
    "ra, Gymnasium with workers": f"{GYMNASIUM} --total-steps 1000 {RA}",
    "pcn, SUMO": f"{SUMO} --total-steps 1600 --warmup-episodes 10 {PCN}",
    "mones, SUMO": f"{SUMO} --total-steps 1600 {MONES}",
    "ra, SUMO": f"{SUMO} --total-steps 1600 {RA}",
}
SLOW_ENDING = "--episodes-per-iteration 2 --total-steps 1500"
"""With few episodes at once, the final executions take many iterations."""
RESULTS = ("weights.npz", "front.csv")
PARTS = ("Probing", "Training", "Resuming", "consolidating", "executing", "Wrote")
MARK = "PCN_FAULTS_MARK"
"""A variable of the environment that a training and all that it starts inherit."""
MOST_SECONDS = 300.0
"""How long processes of a killed training may take to end: a worker that was just started notices
once it has imported what it needs, which takes minutes on a busy machine."""


@dataclass
class Training:
    """A process that trains, with what it prints in a file."""

    arguments: tuple[str, ...]
    said: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        with self.said.open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pcn", *self.arguments, "--checkpoint-seconds", "0"],
                stdout=out,
                stderr=subprocess.STDOUT,
                env=os.environ | {MARK: self.mark, "PYTHONUNBUFFERED": "1"},
            )

    def finish(self) -> None:
        if self.process.wait() != 0:
            told = self.said.read_text()[-500:]
            raise SystemExit(f"{' '.join(self.arguments)} failed: {told}")

    def first_line(self) -> None:
        """Wait until something is printed, or the process ends."""
        while not self.said.stat().st_size and self.process.poll() is None:
            time.sleep(0.02)

    def reach(self, part: str, run: Path) -> bool:
        """Wait until it writes a checkpoint of a part; False if it ends before that."""
        checkpoint, started = run / "checkpoint.npz", time.time()
        while self.process.poll() is None:
            is_new = checkpoint.exists() and checkpoint.stat().st_mtime > started
            if is_new and saved_part(run) == part:
                return True
            time.sleep(0.005)
        return False

    def part(self) -> str:
        """The part of the training that its last lines tell of."""
        for line in reversed(self.said.read_text(errors="replace").splitlines()):
            for part in PARTS:
                if line.startswith(part):
                    return {"Resuming": "Training"}.get(part, part).lower()
            if " steps · front " in line:
                return "training"
        return "starting"

    def kill(self) -> float:
        """SIGKILL; says how many seconds it took until all that it had started was gone."""
        self.process.kill()
        self.process.wait()
        began = time.monotonic()
        while left := marked(self.mark):
            if time.monotonic() - began > MOST_SECONDS:
                raise SystemExit(f"{self.arguments}: processes {left} outlive their training")
            time.sleep(0.05)
        return time.monotonic() - began


def marked(mark: str) -> list[int]:
    """The processes that inherited a mark, but for those that ended and are not yet collected."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def saved_part(run: Path) -> str:
    """The part that the last checkpoint is of; one is written in every iteration."""
    try:
        with np.load(run / "checkpoint.npz") as file:
            ending = json.loads(file["__facts__"].tobytes())["trainer"].get("ending")
    except (OSError, KeyError, ValueError):
        return "training"
    if ending is None:
        return "training"
    return "executing" if "second" in ending or "final" in ending else "consolidating"


@dataclass
class Tally:
    """What the kills of a case came to."""

    parts: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    """Seconds until the last process of a killed training was gone."""
    seconds: float = 0.0
    """How long a training takes from its first line on; kills come within half that time.

    A training that was resumed has less to do: so kills come in all its parts."""

    @property
    def kills(self) -> int:
        return sum(self.parts.values())

    def __str__(self) -> str:
        return ", ".join(f"{part} {count}" for part, count in sorted(self.parts.items()))


def killed_in(
    part: str,
    command: tuple[str, ...],
    run: Path,
    kills: int,
    rng: np.random.Generator,
    tally: Tally,
) -> None:
    """Train with that many kills at most, all of them in one part."""
    said, begun = run.with_suffix(".txt"), tally.kills
    while not (run / "metrics.json").exists():
        training = Training(command, said)
        if tally.kills - begun < kills and training.reach(part, run):
            time.sleep(rng.uniform(0, 0.05))
            tally.longest = max(tally.longest, training.kill())
            tally.parts[saved_part(run)] += 1
        else:
            training.finish()
        command = ("resume", str(run))


def killed(
    command: tuple[str, ...], run: Path, kills: int, rng: np.random.Generator, tally: Tally
) -> None:
    """Train with that many kills at most."""
    said, begun = run.with_suffix(".txt"), tally.kills
    while not (run / "metrics.json").exists():
        training = Training(command, said)
        if tally.kills - begun >= kills:
            training.finish()
            break
        if rng.uniform() > 0.2:
            training.first_line()
        began = time.monotonic()
        try:
            training.process.wait(timeout=rng.uniform(0, tally.seconds / 2))
            training.finish()
            if command[0] == "train":  # other work on the machine may have come to an end
                tally.seconds = (tally.seconds + time.monotonic() - began) / 2
        except subprocess.TimeoutExpired:
            tally.longest = max(tally.longest, training.kill())
            part = training.part()
            tally.parts[saved_part(run) if part == "training" else part] += 1
        if (run / "config.json").exists():
            command = ("resume", str(run))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=108, help="kills in all, over all cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="only these cases")
    parser.add_argument("--part", choices=["consolidating", "executing"], help="kill only there")
    parser.add_argument("--out", type=Path, help="also add the table to this file")
    options = parser.parse_args()
    cases = [case for case in CASES if not options.only or case in options.only]
    for case in cases:
        rng, tally = np.random.default_rng(options.seed), Tally()
        words = f"{CASES[case]} {SLOW_ENDING}" if options.part else CASES[case]

        def command(run: Path, words: str = words) -> tuple[str, ...]:
            return ("train", *words.split(), "--seed", "1", "--out", str(run))

        with tempfile.TemporaryDirectory() as folder:
            for name in ("compiling", "undisturbed"):
                undisturbed = Path(folder) / name
                training = Training(command(undisturbed), Path(folder) / f"{name}.txt")
                training.first_line()
                began = time.monotonic()
                training.finish()
                tally.seconds = time.monotonic() - began
            wanted, rounds = -(-options.kills // len(cases)), 0
            while tally.kills < wanted:
                run = Path(folder) / f"killed-{rounds}"
                kill = partial(killed_in, options.part) if options.part else killed
                kill(command(run), run, wanted - tally.kills, rng, tally)
                rounds += 1
                for name in RESULTS:
                    if (run / name).read_bytes() != (undisturbed / name).read_bytes():
                        raise SystemExit(f"{case}: {name} differs after {tally.kills} kills")
                print(f"{case}: {tally.kills} kills in {rounds} trainings, all equal", flush=True)
        line = (
            f"{case:30} {tally.kills:4} kills ({tally})  {rounds:3} trainings, all bit-identical  "
            f"no process left after {tally.longest:.1f} s"
        )
        print(line, flush=True)
        if options.out is not None:
            with options.out.open("a") as table:
                table.write(line + "\n")


if __name__ == "__main__":
    main()
