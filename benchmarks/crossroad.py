"""Where Crossroad's time goes, and how it scales: `python benchmarks/crossroad.py --help`.

CPU milliseconds per environment step while PCN trains, after everything is compiled. Workers keep
their own accounts, so that the simulator is measured where it runs, beside the others.
"""

import functools
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

import pcn
import pcn.rollout
from pcn.algorithms import ALGORITHMS
from pcn.envs.crossroad import Crossroad
from pcn.envs.crossroad.environment import STEP_LIMIT
from pcn.envs.worker_slots import WorkerSlots
from pcn.rollout.slot_agents import SlotAgents
from pcn.runs.request import Request
from pcn.runs.settling import settle


@dataclass
class Arguments:
    """What to measure."""

    environment: str = "crossroad"
    iterations: int = 10
    """Training iterations on the clock."""
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


class Accounted(Crossroad):
    """A crossroad that writes down what its process has spent so far, whenever it starts."""

    def __init__(self, folder: str, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._accounts = Path(folder) / f"{os.getpid()}.json"
        self._watch = Stopwatch()
        simulation = self._simulation
        simulation.start = self._watch.around("loading", simulation.start)
        simulation.step = self._watch.around("simulator", simulation.step)
        self.step = self._watch.around("environment", self.step)

    def reset(self, **options: Any) -> Any:
        started = time.process_time()
        result = super().reset(**options)
        self._watch.seconds["environment"] += time.process_time() - started
        seconds = {**self._watch.seconds, "process": time.process_time()}
        self._accounts.write_text(json.dumps(seconds))
        return result


def spent(folder: str) -> dict[str, float]:
    """The accounts of all workers together."""
    total: dict[str, float] = defaultdict(float)
    for account in Path(folder).glob("*.json"):
        for name, seconds in json.loads(account.read_text()).items():
            total[name] += seconds
    return total


def table(arguments: Arguments, folder: str) -> None:
    pcn.configure_jax()
    hyperparameters = {"evaluations": 0, "total_steps": 10**9}
    settled = settle(Request(environment=arguments.environment, hyperparameters=hyperparameters))
    settings, environment = settled.settings, settled.environment
    keywords = environment._make.keywords
    environment._make = functools.partial(Accounted, folder, *environment._make.args, **keywords)
    trainer: Any = ALGORITHMS["pcn"].trainer(environment, settings.config, seed=0)
    trainer.iterate()
    watch = Stopwatch()
    SlotAgents.act = watch.around("network", SlotAgents.act)
    trainer._update = watch.around("updates", trainer._update)
    for name in ("stepped_rollout", "scripted_rollout"):
        setattr(pcn.rollout, name, watch.around("collection", getattr(pcn.rollout, name)))

    def everyone_writes() -> dict[str, float]:
        environment.slots().reset(dict.fromkeys(range(environment.num_slots), 0))
        return spent(folder)

    before = everyone_writes()
    steps, started = trainer.steps, time.process_time()
    for _ in range(arguments.iterations):
        trainer.iterate()
    total, steps = time.process_time() - started, trainer.steps - steps
    after = everyone_writes()
    environment.slots().close()
    workers = {name: after[name] - before[name] for name in after}
    main = watch.seconds
    collection = {
        "simulator: steps": workers["simulator"],
        "simulator: loading each episode": workers["loading"],
        "observation, counters and reward": workers["environment"]
        - workers["simulator"]
        - workers["loading"],
        "workers: pipes": workers["process"] - workers["environment"],
        "network: choosing actions": main["network"],
        "main process: pipes and records": main["collection"] - main["network"],
    }
    whole = sum(collection.values())
    print("| part | ms per step | share of collection |\n|---|---|---|")
    for name, seconds in collection.items():
        print(f"| {name} | {1e3 * seconds / steps:.3f} | {seconds / whole:.0%} |")
    print(f"| collection | {1e3 * whole / steps:.3f} | 100% |")
    updates = arguments.iterations * settings.config.updates_per_iteration
    per_thousand = 1000 * updates / steps
    print(
        f"| updates ({per_thousand:.0f} per 1,000 steps) | {1e3 * main['updates'] / steps:.3f} | |"
    )
    rest = total - main["collection"] - main["updates"]
    print(f"| dataset and commands | {1e3 * rest / steps:.3f} | |")


def scaling() -> None:
    print("| worker processes | steps per second |\n|---|---|")
    for number in (1, 2, 4, 8, 16):
        slots = WorkerSlots(Crossroad, number, frame_stack=1)
        everyone = range(number)
        slots.reset(dict.fromkeys(everyone, 0))
        rates = []
        for _ in range(5):
            started = time.perf_counter()
            slots.reset(dict.fromkeys(everyone, 0))
            for step in range(STEP_LIMIT):
                slots.step(dict.fromkeys(everyone, int(step % 20 == 19)))
            rates.append(number * STEP_LIMIT / (time.perf_counter() - started))
        slots.close()
        print(f"| {number} | {np.median(rates):,.0f} |", flush=True)


if __name__ == "__main__":
    arguments = tyro.cli(Arguments)
    if arguments.scaling:
        scaling()
    else:
        with tempfile.TemporaryDirectory() as folder:
            table(arguments, folder)
