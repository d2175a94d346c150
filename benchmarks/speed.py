"""Environment steps per CPU second, beside morl-baselines: `python benchmarks/speed.py --help`.

The peer lives in an environment of its own, whose interpreter is given by `--peer-python`:

    python -m venv peer
    peer/bin/pip install torch==2.13.0
    peer/bin/pip install torch==2.13.0 morl-baselines==1.3.0 mo-gymnasium==1.3.2

Every training is a process of its own on one core; a short training of the same configuration
comes first, so that neither compilation nor imports are in the figures. `training` is collection
and updates; `whole` adds the peer's evaluations, and with us what follows the last iteration:
consolidation and executing the front, whose steps are not counted. Our evaluations during training
spend the budget of steps, and count as training.
"""

import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import tyro

import pcn

PEER_SCRIPT = Path(__file__).parent / "peers" / "morl_baselines_pcn.py"
GYMNASIUM_ID = "minecart-deterministic-v0"
PEER_SETTINGS = {
    "preset": "authors",
    "learning_rate": 1e-3,
    "updates_per_iteration": 50,
    "warmup_episodes": 20,
    "capacity": 50,
    "command_scale": (1.0, 1.0, 0.1, 0.1),
    "bounded_commands.upper_bound": (1.5, 1.5, 0.0),
    "evaluations": 0,
}
"""What the peer's example sets, in our words."""
WARMUP_STEPS = 6_000
MEASURE = "measure"
"""First argument of a measured process; its training follows as JSON."""


@dataclass
class Arguments:
    """What to measure."""

    peer_python: Path | None = None
    """Interpreter of the peer's environment; without it only pcn is measured."""
    core: int = 0
    repetitions: int = 2
    """Trainings of each kind, peer and ours in turn, each with a seed of its own."""
    steps: int = 100_000
    """Environment steps of a training on MO-Gymnasium's Minecart, the same for the peer and us.

    Episodes get shorter as training goes on, and updates per step more frequent."""
    compiled_steps: int = 1_000_000
    """The same on the compiled Minecart; Deep Sea Treasure always takes 100,000."""
    only: tuple[str, ...] = ()
    """Measure only the rows of these names."""


@dataclass(frozen=True)
class Row:
    """One row of the table: a training that is repeated."""

    name: str
    environment: str = GYMNASIUM_ID
    steps: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    evaluate_every: int | None = None
    """For the peer only, which has no other options."""

    def measured(self, arguments: Arguments, seed: int) -> dict[str, Any]:
        """Train once in a process of its own."""
        if self.evaluate_every is not None:
            command = [
                str(arguments.peer_python), "-W", "ignore", str(PEER_SCRIPT),
                f"--steps={self.steps}", f"--seed={seed}",
                f"--evaluate-every={self.evaluate_every}",
            ]  # fmt: skip
        else:
            training = {
                "environment": self.environment,
                "total_steps": self.steps,
                "seed": seed,
                **self.options,
            }
            command = [sys.executable, "-W", "ignore", __file__, MEASURE, json.dumps(training)]
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        return json.loads(done.stdout.splitlines()[-1])


def rows_of(arguments: Arguments) -> list[Row]:
    steps, compiled = arguments.steps, arguments.compiled_steps
    peer = [
        Row("morl-baselines", steps=steps, evaluate_every=0),
        Row("morl-baselines, evaluating as in its example", steps=steps, evaluate_every=10_000),
    ]
    ours = [
        Row("pcn, the peer's settings", steps=steps, options=PEER_SETTINGS),
        Row("pcn", steps=steps),
        Row("pcn, compiled, authors' settings", "minecart", compiled, {"preset": "authors"}),
        Row("pcn, compiled", "minecart", compiled),
        Row("pcn, compiled", "deep-sea-treasure", 100_000),
    ]
    rows = [*(peer if arguments.peer_python is not None else []), *ours]
    return [row for row in rows if not arguments.only or row.name in arguments.only]


def measure(training: dict[str, Any]) -> dict[str, Any]:
    """Train in this process, once to compile and once on the clock."""
    pcn.configure_jax()
    clock: list[float] = []
    compiling: list[float] = []

    def listen(event: str, seconds: float, **_: Any) -> None:
        if event.startswith("/jax/core/compile/"):
            compiling.append(seconds)

    def report(event: pcn.Started | pcn.Advanced) -> None:
        if isinstance(event, pcn.Advanced) and event.phase == "training":
            clock.append(time.process_time())

    jax.monitoring.register_event_duration_secs_listener(listen)
    training = {
        name: tuple(value) if isinstance(value, list) else value for name, value in training.items()
    }
    pcn.train(**{**training, "total_steps": min(WARMUP_STEPS, training["total_steps"])})
    compiling.clear()
    before = time.process_time()
    run = pcn.train(**training, report=report)
    whole = time.process_time() - before
    if multiprocessing.active_children():
        raise SystemExit("worker processes are at work: their CPU seconds would be missed")
    config, consolidation = run.settings.config, run.metrics.get("consolidation", {})
    return {
        "steps": run.metrics["steps_by_phase"]["training"],
        "updates": config.updates_per_iteration * len(clock),
        "training_seconds": clock[-1] - before,
        "cpu_seconds": whole,
        "compile_seconds": sum(compiling),  # what the short training did not reach
        "consolidation": consolidation,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def table(rows: list[Row], results: list[list[dict[str, Any]]]) -> str:
    """Markdown; medians over the repetitions."""
    lines = [
        "| training | environment | steps | updates per 1,000 steps "
        "| steps per CPU s, training | ratio | steps per CPU s, whole | peak MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    base = None
    for row, runs in zip(rows, results, strict=True):
        rates = [run["steps"] / run["training_seconds"] for run in runs]
        rate = statistics.median(rates)
        base = base or (rate if row.evaluate_every is not None else None)
        ratio = f"{rate / base:.1f}" if base and row.environment == GYMNASIUM_ID else ""
        lines.append(
            f"| {row.name} | {row.environment} | {_median(runs, 'steps'):,.0f} "
            f"| {1000 * sum(r['updates'] for r in runs) / sum(r['steps'] for r in runs):.1f} "
            f"| {rate:,.0f} ({min(rates):,.0f} to {max(rates):,.0f}) | {ratio} "
            f"| {statistics.median(run['steps'] / run['cpu_seconds'] for run in runs):,.0f} "
            f"| {_median(runs, 'peak_mb'):.0f} |"
        )
    return "\n".join(lines)


def _median(runs: list[dict[str, Any]], name: str) -> float:
    return statistics.median(run[name] for run in runs)


def main(arguments: Arguments) -> None:
    os.sched_setaffinity(0, {arguments.core})  # the measured processes inherit it
    rows = rows_of(arguments)
    results: list[list[dict[str, Any]]] = [[] for _ in rows]
    for seed in range(arguments.repetitions):
        for row, runs in zip(rows, results, strict=True):
            run = row.measured(arguments, seed)
            runs.append(run)
            print(row.name, row.environment, seed, json.dumps(run), file=sys.stderr, flush=True)
    print(table(rows, results))


if __name__ == "__main__":
    if sys.argv[1:2] == [MEASURE]:
        print(json.dumps(measure(json.loads(sys.argv[2]))))
    else:
        main(tyro.cli(Arguments))
