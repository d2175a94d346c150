"""`pcn reproduce`: the paper's experiments with one command."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from pcn.cli.experiments import ExecutionOptions
from pcn.cli.screen import console, quoted
from pcn.experiments.outputs import write_outputs
from pcn.experiments.paper import EXPERIMENTS, FIRST_SEED, paper_plan


@dataclass(frozen=True, kw_only=True)
class Reproduce(ExecutionOptions):
    """Carry out the paper's experiments, and write their tables and figures.

    Finished runs are not repeated, and interrupted ones continue from their checkpoints: start the
    same command again.
    """

    what: Annotated[
        tyro.conf.Positional[str], tyro.conf.arg(help=f"One of: {', '.join(EXPERIMENTS)}.")
    ]
    preset: str | None = None
    """The only preset of PCN: `default`, `paper` or `authors`. Table 1 has the first two."""
    seeds: int | None = None
    """How many seeds; by default 5, and 20 for Walkroom (2 where it is scaled)."""
    first_seed: int = FIRST_SEED
    """The smallest seed; no hyperparameter was chosen by looking at the default ones."""
    scale: float = 1.0
    """Multiplies the number of steps of every run, to try everything in minutes."""
    out: Path | None = None
    """The experiment's folder; by default `experiments/WHAT`, with the scale if there is one."""

    def __call__(self) -> None:
        """Carry the plan out, then write what comes of it."""
        plan = paper_plan(
            self.what,
            preset=self.preset,
            seeds=self.seeds,
            scale=self.scale,
            first_seed=self.first_seed,
        )
        scaled = "" if self.scale == 1 else f"-{self.scale:g}"
        folder = self.out or Path("experiments") / f"{self.what}{scaled}"
        if self.execute(plan, folder):
            number = len(write_outputs(folder))
            report = quoted(folder / "REPORT.md")
            console.print(f"Wrote {number} tables and figures; {report} has the overview.")
