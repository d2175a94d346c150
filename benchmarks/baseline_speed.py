"""Steps per CPU second of PCN and the baselines: `python benchmarks/baseline_speed.py --help`.

Every training is repeated in its process with other seeds: the first repetition compiles and is not
counted. Whole trainings are measured, with evaluations and what follows the last iteration.
"""

import os
import statistics
import time
from dataclasses import dataclass

import tyro

import pcn

STEPS = {"deep-sea-treasure": 300_000, "minecart": 1_000_000, "walkroom-3": 300_000}
"""The same budget for every algorithm; RA on Minecart takes about 40,000 steps to an update."""


@dataclass
class Arguments:
    """What to measure."""

    environments: tuple[str, ...] = tuple(STEPS)
    algorithms: tuple[str, ...] = ("pcn", "mones", "ra")
    core: int = 0
    repetitions: int = 3


def rates(environment: str, algorithm: str, repetitions: int) -> list[float]:
    """Steps per CPU second of each repetition but the first."""
    measured = []
    for seed in range(repetitions + 1):
        before = time.process_time()
        run = pcn.train(environment, algorithm=algorithm, seed=seed, total_steps=STEPS[environment])
        phases = run.metrics["steps_by_phase"]
        steps = sum(number for phase, number in phases.items() if phase != "consolidating")
        measured.append(steps / (time.process_time() - before))
    return measured[1:]


def main(arguments: Arguments) -> None:
    os.sched_setaffinity(0, {arguments.core})
    pcn.configure_jax()
    print("| environment | " + " | ".join(arguments.algorithms) + " |", flush=True)
    print("|---" * (1 + len(arguments.algorithms)) + "|")
    for environment in arguments.environments:
        cells = [environment]
        for algorithm in arguments.algorithms:
            found = rates(environment, algorithm, arguments.repetitions)
            cells.append(
                f"{statistics.median(found):,.0f} ({min(found):,.0f} to {max(found):,.0f})"
            )
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
