"""`pcn play`: run one policy and show each step."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from rich.table import Table

from pcn.cli.screen import console, next_steps, print_table, quoted, vector
from pcn.compilation import use_cache
from pcn.errors import UserError
from pcn.runs import load
from pcn.runs.playing import play, save_gif


@dataclass(frozen=True)
class Play:
    """Run one policy of a run: each step's reward, and what is left of the command."""

    run: tyro.conf.Positional[Path]
    """The run's folder."""
    policy: int
    """The policy's id, as in front.csv."""
    save: Path | None = None
    """Also write the episode as an animation to this .gif file."""
    seed: int = 0
    """Seeds the environment, where it is stochastic."""

    def __call__(self) -> None:
        """Play, show and perhaps save the episode."""
        if self.save is not None and self.save.suffix.lower() != ".gif":
            raise UserError(f"--save writes a .gif file, got {self.save}")
        if self.seed < 0:
            raise UserError(f"--seed must not be negative, got {self.seed}")
        use_cache()
        run = load(self.run)
        spec = run.environment().spec
        episode = play(run, self.policy, seed=self.seed, render=self.save is not None)
        requested = run.coverage_set.requested[self.policy]
        names = ", ".join(spec.objective_names)
        commanded = run.policy(self.policy).command is not None
        console.print(
            f"Policy {self.policy} of {quoted(self.run)} "
            f"{'is asked for' if commanded else 'stands for'} {vector(requested)} "
            f"({names}) in {run.coverage_set.horizons[self.policy]:g} steps\n"
        )
        columns = ["step", "action", "reward"]
        columns += ["left of the command", "left of the steps"] if commanded else []
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in columns:
            table.add_column(column, justify="right")
        for step in episode.steps:
            cells = [str(step.number), step.action, vector(step.reward)]
            if commanded:
                cells += [vector(step.remaining_return), f"{step.remaining_steps:g}"]
            table.add_row(*cells)
        print_table(table)
        total = episode.total
        missing = requested - total
        verdict = "as asked"
        if np.any(missing > run.coverage_set.tolerance):
            verdict = f"short by {vector(np.maximum(missing, 0))}"
        elif np.any(missing < -run.coverage_set.tolerance):
            verdict = "more than was asked"
        discounted = "" if episode.discount == 1 else f" (discounted by {episode.discount:g})"
        ending = "the environment ended it" if episode.terminated else "the step limit ended it"
        console.print(
            f"\nReached {vector(total)}{discounted} in {len(episode.steps)} steps ({ending}): "
            f"{verdict}"
        )
        if self.save is not None:
            save_gif(episode, self.save)
            console.print(f"Wrote {quoted(self.save)}")
        other = (self.policy + 1) % len(run.coverage_set)
        next_steps(
            (
                f"play {quoted(self.run)} --policy {other} --save play.gif",
                "another policy, as a film",
            ),
            (f"plot {quoted(self.run)} --out front.png", "draw the front"),
        )
