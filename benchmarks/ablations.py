"""What each change to the paper's text brings: the default preset with one of them undone.

`python benchmarks/ablations.py --environment deep-sea-treasure --total-steps 10000 --num-seeds 20`
prints a Markdown table; every figure is of executed policies.
"""

import statistics
import time
from dataclasses import dataclass, field

import tyro

import pcn

UNDONE: dict[str, dict[str, object]] = {
    "nothing (default)": {},
    "loop erasure": {"loop_erasure": False},
    "variations of front episodes": {"variations": False},
    "sticky random actions": {"sticky_actions": False},
    "warm-up until 3 trade-offs": {"longer_warm_up": False},
    "a quarter of the batch from the archive": {"archive_fraction": 0.0},
    "action noise": {"action_noise": 0.0},
    "breaking off long episodes": {"breaking_off": False},
    "a command for each episode": {"shared_command": True},
    "bounded commands": {"bounded_commands": False},
    "gate and second hidden layer": {"gate": "sigmoid", "hidden_layers": 1},
    "standardised observations": {"standardise": False},
    "executed episodes join the dataset": {"stored_evaluations": False},
    "consolidation": {"consolidation": False},
}


@dataclass
class Arguments:
    """Where and how long."""

    environment: str = "deep-sea-treasure"
    total_steps: int = 10_000
    first_seed: int = 3000
    num_seeds: int = 20
    only: list[str] = field(default_factory=lambda: list(UNDONE))
    """Rows to measure, by their names."""


def main(arguments: Arguments) -> None:
    pcn.configure_jax()
    print("| undone | share of the front executed | complete | hypervolume, mean (worst) "
          "| archive | fidelity | CPU s |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for name in arguments.only:
        changes = UNDONE[name]
        options = {"total_steps": arguments.total_steps, **changes}
        pcn.train(arguments.environment, **{**options, "total_steps": 2_000})
        shares, volumes, archives, exact, seconds = [], [], [], [], []
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.num_seeds):
            started = time.process_time()
            run = pcn.train(arguments.environment, seed=seed, **options)
            seconds.append(time.process_time() - started)
            shares.append(run.metrics["executed"].get("front_share", float("nan")))
            volumes.append(run.metrics["executed"]["hypervolume"])
            archives.append(run.metrics["archive"]["hypervolume"])
            exact.append(run.metrics["fidelity"]["exact"])
        print(
            f"| {name} | {statistics.mean(shares):.3f} "
            f"| {sum(share == 1 for share in shares)} of {len(shares)} "
            f"| {statistics.mean(volumes):.6g} ({min(volumes):.6g}) "
            f"| {statistics.mean(archives):.6g} | {statistics.mean(exact):.3f} "
            f"| {statistics.mean(seconds):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(tyro.cli(Arguments))
