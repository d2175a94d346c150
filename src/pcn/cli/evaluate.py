"""`pcn evaluate`: execute every policy of a run again."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from pcn.cli.run_screen import show_coverage_set
from pcn.cli.screen import console, next_steps, print_fact, quoted
from pcn.coverage import agreeing_mask
from pcn.errors import UserError
from pcn.runs.run import load


@dataclass(frozen=True)
class Evaluate:
    """Execute every policy of a finished run again, from its saved weights."""

    run: tyro.conf.Positional[Path]
    """The run's folder."""
    executions: int | None = None
    """Episodes per policy. When not given, 1 in a deterministic environment and otherwise what the
    median policy had at the end of training."""
    seed: int = 1
    """Seeds the environment, where it is stochastic."""

    def __call__(self) -> None:
        """Run the policies and show what they return."""
        if self.executions is not None and self.executions < 1:
            raise UserError(f"--executions must be at least 1, got {self.executions}")
        if self.seed < 0:
            raise UserError(f"--seed must not be negative, got {self.seed}")
        run = load(self.run)
        coverage_set, metrics = run.execute(executions=self.executions, seed=self.seed)
        show_coverage_set(coverage_set, run.spec, metrics, takes_commands=run.takes_commands)
        if coverage_set.is_repeated and run.coverage_set.is_repeated:
            same = agreeing_mask(run.coverage_set, coverage_set)
            print_fact(
                "agreement",
                f"{same.sum()} of {len(same)} means differ from those of the "
                "training by no more than their intervals allow",
            )
        console.print("\nNothing was written: the run keeps the metrics of its training.")
        next_steps(
            (f"play {quoted(self.run)} --policy 0", "run one policy, step by step"),
            (f"plot {quoted(self.run)} --out front.png", "draw the front"),
        )
