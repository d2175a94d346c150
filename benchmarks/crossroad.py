"""Where Crossroad's time goes, and how it scales: `python benchmarks/crossroad.py --help`.

CPU seconds, per 1,000 environment steps, after everything is compiled. The simulator's share is
measured inside one environment; what workers and pipes cost, by the processes' own clocks.
"""

import functools
import os
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from pcn.algorithms import ALGORITHMS
from pcn.envs.crossroad import Crossroad
from pcn.envs.crossroad.environment import STEP_LIMIT
from pcn.envs.crossroad.simulation import Simulation
from pcn.envs.workers import WorkerSlots
from pcn.rollout import stepped
from pcn.runs.settings import Settings


@dataclass
class Arguments:
    """What to measure."""

    environment: str = "crossroad"
    iterations: int = 10
    """Training iterations on the clock."""
    episodes: int = 50
    """Episodes of the environment alone."""
    scaling: bool = False
    """Instead: steps per second of 1, 2, 4, ... worker processes, without a network."""


class Stopwatch:
    """CPU seconds of this process, by the name of what ran."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            started = time.process_time()
            result = function(*arguments, **options)
            self.seconds[name] += time.process_time() - started
            return result

        return timed


def schedule(step: int) -> int:
    """The lights change every 20 seconds."""
    return int(step % 20 == 19)


def environment_alone(num_episodes: int) -> dict[str, float]:
    """The simulator, and all that is done in Python around it, in milliseconds per step."""
    watch = Stopwatch()
    start, step = Simulation.start, Simulation.step
    environment = Crossroad()
    environment.reset()
    Simulation.start = watch.around("reset", start)
    Simulation.step = watch.around("simulator", step)
    started = time.process_time()
    for _ in range(num_episodes):
        environment.reset()
        for number in range(STEP_LIMIT):
            environment.step(schedule(number))
    total = time.process_time() - started
    Simulation.start, Simulation.step = start, step
    environment.close()
    num_steps = num_episodes * STEP_LIMIT
    rest = total - watch.seconds["simulator"] - watch.seconds["reset"]
    seconds = {**watch.seconds, "observation and reward": rest}
    return {name: 1e3 * value / num_steps for name, value in seconds.items()}


def cpu_seconds(pid: int) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def training(name: str, iterations: int) -> tuple[dict[str, float], float]:
    """Milliseconds per step of each part of a training, and its number of updates per step."""
    settings = Settings.of(name, evaluations=0, total_steps=10**9)
    environment = settings.make()
    environment.warm_up()
    trainer: Any = ALGORITHMS["pcn"].trainer(environment, settings.config, seed=0)
    trainer.iterate()
    watch = Stopwatch()
    network, update = stepped._advance, trainer._update
    stepped._advance = watch.around("network", network)
    trainer._update = watch.around("updates", update)
    trainer._actor.__class__.run = watch.around("collection", trainer._actor.__class__.run)
    pids = [process.pid for process in environment.slots()._processes]
    before, started = sum(map(cpu_seconds, pids)), time.process_time()
    steps = trainer.steps
    for _ in range(iterations):
        trainer.iterate()
    steps = trainer.steps - steps
    seconds = watch.seconds
    parts = {
        "workers": sum(map(cpu_seconds, pids)) - before,
        "network": seconds["network"],
        "pipes and records": seconds["collection"] - seconds["network"],
        "updates": seconds["updates"],
        "dataset": time.process_time() - started - seconds["collection"] - seconds["updates"],
    }
    environment.slots().close()
    updates = iterations * settings.config.updates_per_iteration / steps
    return {name: 1e3 * value / steps for name, value in parts.items()}, updates


def table(arguments: Arguments) -> None:
    alone = environment_alone(arguments.episodes)
    parts, updates = training(arguments.environment, arguments.iterations)
    in_workers = sum(alone.values())
    collection = parts["workers"] + parts["network"] + parts["pipes and records"]
    rows = {
        "simulator: steps": alone["simulator"],
        "simulator: loading each episode": alone["reset"],
        "observation, counters and reward": alone["observation and reward"],
        "workers' pipes": parts["workers"] - in_workers,
        "network (choosing actions)": parts["network"],
        "pipes and records of the main process": parts["pipes and records"],
    }
    print("| part | ms per step | share of collection |\n|---|---|---|")
    for name, value in rows.items():
        print(f"| {name} | {value:.3f} | {value / collection:.0%} |")
    print(f"| collection | {collection:.3f} | 100% |")
    print(f"| updates ({1000 * updates:.0f} per 1,000 steps) | {parts['updates']:.3f} | |")
    print(f"| dataset | {parts['dataset']:.3f} | |")


def scaling() -> None:
    print("| worker processes | steps per second |\n|---|---|")
    for number in (1, 2, 4, 8, 16):
        slots = WorkerSlots(Crossroad, number, frame_stack=1)
        everyone = range(number)
        slots.reset(dict.fromkeys(everyone, 0))
        rates = []
        for _ in range(3):
            started = time.perf_counter()
            slots.reset(dict.fromkeys(everyone, 0))
            for step in range(STEP_LIMIT):
                slots.step(dict.fromkeys(everyone, schedule(step)))
            rates.append(number * STEP_LIMIT / (time.perf_counter() - started))
        slots.close()
        print(f"| {number} | {np.median(rates):,.0f} |", flush=True)


if __name__ == "__main__":
    arguments = tyro.cli(Arguments)
    if arguments.scaling:
        scaling()
    else:
        table(arguments)
