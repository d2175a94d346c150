"""Whole trainings by id beside morl-baselines' PCN: environment steps per CPU second.

    python benchmarks/whole_trainings.py --peer-python PEERS/bin/python --core 1 --repetitions 2

Each training is a process of its own on one core, ours and the peer's in turn. Everything that a
process does until its training is over counts: importing, tracing, loading compiled programs,
probing, evaluations, and with us also the final executions. All environment steps count. A first
training of ours fills the cache of compiled programs and is not measured; with `--cold` each one
compiles all its programs itself. Both sides find their modules as bytecode, as installed packages
have it. `speed.py` says how to set up the peer, which needs `--no-deps box2d==2.3.10` for the
lander as well.

With `--simulator` a line says what as many steps of the bare simulator take, with random actions.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import tyro

from peers.all_fronts import GATHERING, LANDER, STILL_MINECART, Case

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"

CASES = {case.id: case for case in (STILL_MINECART, GATHERING, LANDER)}


@dataclass
class Arguments:
    """What to measure."""

    peer_python: Path | None = None
    """Interpreter of the peer's environment; without it only pcn is measured."""
    core: int = 0
    repetitions: int = 2
    """Trainings of each kind, each with a seed of its own."""
    first_seed: int = 0
    ids: tuple[str, ...] = tuple(CASES)
    cold: bool = False
    """Give each training of ours an empty cache of compiled programs."""
    simulator: bool = False
    """Measure the bare simulator as well."""


@dataclass(frozen=True)
class Measured:
    """One training."""

    steps: int
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """Steps per CPU second."""
        return self.steps / self.cpu_seconds


def ours(case: Case, seed: int, *, cold: bool = False) -> Measured:
    """Train as a user does, by id and steps alone."""
    # Without this, our modules would be compiled from their sources in every process.
    environ = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [
            sys.executable, "-m", "pcn", "train", case.id, "--total-steps", str(case.steps),
            "--seed", str(seed), "--out", str(out),
        ]  # fmt: skip
        if cold:
            environ["PCN_CACHE"] = str(Path(folder) / "programs")
        before = _children_seconds()
        subprocess.run(command, check=True, env=environ, stdout=subprocess.DEVNULL)
        seconds = _children_seconds() - before
        return Measured(json.loads((out / "metrics.json").read_text())["steps"], seconds)


def peer(case: Case, seed: int, python: Path) -> Measured:
    """Train morl-baselines' PCN with the settings of its own example."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "peer.jsonl"
        command = [
            str(python), "-W", "ignore", str(Path(__file__).parent / "peers/executed_fronts.py"),
            "pcn", case.id, "--steps", str(case.steps), "--discount", str(case.discount),
            "--reference-point", *map(str, case.reference_point), "--seed", str(seed),
            "--executions", "1", "--out", str(out),
        ]  # fmt: skip
        environ = {**os.environ, "WANDB_MODE": "disabled"}
        subprocess.run(command, check=True, env=environ, stdout=subprocess.DEVNULL)
        found = json.loads(out.read_text())
        return Measured(found["steps"], found["process_seconds"])


def bare_seconds(case: Case) -> float:
    """CPU seconds of the simulator's own steps and resets, with random actions."""
    import mo_gymnasium

    environment = mo_gymnasium.make(case.id)
    environment.action_space.seed(0)
    environment.reset(seed=0)
    before = time.process_time()
    for _ in range(case.steps):
        _, _, terminated, truncated, _ = environment.step(environment.action_space.sample())
        if terminated or truncated:
            environment.reset()
    return time.process_time() - before


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: Arguments) -> None:
    os.sched_setaffinity(0, {arguments.core})  # the measured processes inherit it
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in arguments.ids:
        case = CASES[name]
        if arguments.simulator:
            seconds = bare_seconds(case)
            print(
                f"{name}: bare simulator {seconds:.1f} CPU s for {case.steps:,} steps", flush=True
            )
        if not arguments.cold:
            ours(case, arguments.first_seed)
        ratios = []
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.repetitions):
            mine = ours(case, seed, cold=arguments.cold)
            line = f"{name} seed {seed}: ours {mine.steps:,} steps in {mine.cpu_seconds:.1f} CPU s"
            if arguments.peer_python is not None:
                other = peer(case, seed, arguments.peer_python)
                ratios.append(mine.rate / other.rate)
                line += f", peer {other.steps:,} in {other.cpu_seconds:.1f}, ratio {ratios[-1]:.1f}"
            print(f"{line}; load {os.getloadavg()[0]:.0f}", flush=True)
        if ratios:
            print(f"{name}: median ratio {statistics.median(ratios):.1f}", flush=True)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
