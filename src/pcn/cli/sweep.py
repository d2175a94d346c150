"""`pcn sweep`: a grid of runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from pcn.cli.experiments import ExecutionOptions
from pcn.cli.screen import next_steps, quoted
from pcn.experiments.sweep import grid_in, seeds_in, sweep_plan


@dataclass(frozen=True, kw_only=True)
class Sweep(ExecutionOptions):
    """Train every combination of environments, algorithms, hyperparameters and seeds.

    Finished runs are not repeated, and interrupted ones continue from their checkpoints: start the
    same command again.
    """

    environments: Annotated[
        tyro.conf.Positional[tuple[str, ...]],
        tyro.conf.arg(metavar="ENVIRONMENT [ENVIRONMENT ...]", help_behavior_hint=""),
    ]
    """Those that `pcn envs` lists, ids of Gymnasium, or `module:Name` of your own."""
    out: Path
    """The experiment's folder."""
    algorithm: str = "pcn"
    """Which algorithms learn, separated by commas."""
    preset: str = "default"
    """The preset of those algorithms that have it; the others train with `default`."""
    seeds: str = "0"
    """Seeds and ranges of seeds, such as `0-4,10`."""
    set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE[,VALUE...]")] = ()
    """Values of a hyperparameter, or of an argument of the environment, to be combined with those
    of all others: `--set learning-rate=1e-3,3e-3 capacity=100,200`."""
    total_steps: int | None = None
    """Environment steps of each training; by default those of the environment's recipe."""

    def __call__(self) -> None:
        """Carry the plan out."""
        plan = sweep_plan(
            self.environments,
            algorithms=tuple(self.algorithm.split(",")),
            preset=self.preset,
            seeds=seeds_in(self.seeds),
            grid=grid_in(self.set),
            total_steps=self.total_steps,
        )
        if self.execute(plan, self.out):
            next_steps((f"compare {quoted(self.out)}", "statistics over seeds, and pictures"))
