"""`pcn play`: run one policy and show each step."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from jaxtyping import Float
from rich.markup import escape
from rich.table import Table

from pcn.cli.screen import (
    console,
    count_of,
    next_steps,
    print_sentence,
    print_table,
    quoted,
    vector,
)
from pcn.coverage import CoverageSet
from pcn.errors import UserError
from pcn.pareto import Tolerances
from pcn.runs.playing import PlayedEpisode, play, save_gif
from pcn.runs.run import Run, load
from pcn.serialisation.files import refuse_missing_folder


@dataclass(frozen=True)
class Play:
    """Run one policy of a run and show each step: action, reward, and the command after it."""

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
        if self.save is not None:
            refuse_missing_folder(self.save)
        if self.seed < 0:
            raise UserError(f"--seed must not be negative, got {self.seed}")
        run = load(self.run)
        episode = play(run, self.policy, seed=self.seed, render=self.save is not None)
        expected = run.coverage_set.requested if run.takes_commands else run.coverage_set.executed
        requested = expected[self.policy]
        print_sentence(self._first_line(run, episode, requested))
        print_table(step_table(episode))
        print_sentence(last_line(episode, requested, run.coverage_set.tolerances))
        if self.save is not None:
            save_gif(episode, self.save)
            console.print(f"Wrote {quoted(self.save)}")
        other = (self.policy + 1) % len(run.coverage_set)
        film = (" --save play.gif", ", as a film") if episode.can_be_filmed else ("", "")
        next_steps(
            (f"play {quoted(self.run)} --policy {other}{film[0]}", f"another policy{film[1]}"),
            (f"plot {quoted(self.run)} --out front.png", "draw the front"),
        )

    def _first_line(
        self,
        run: Run,
        episode: PlayedEpisode,
        requested: Float[np.ndarray, " objective"],
    ) -> str:
        """The return of the policy, and its first command."""
        names = escape(", ".join(run.spec.objective_names))
        horizon = run.coverage_set.horizons[self.policy]
        word = "requested" if run.takes_commands else "executed in training"
        line = (
            f"Policy {self.policy} of {quoted(self.run)}: {word} {vector(requested)} "
            f"({names}) in {count_of(horizon, 'step')}"
        )
        command = episode.command
        if command is not None and np.any(
            np.abs(command.desired_return - requested) > run.coverage_set.tolerances
        ):
            line += f"; the command is bounded to {vector(command.desired_return)}"
        return f"{line}{means_line(run.coverage_set, self.policy)}\n"


def means_line(coverage_set: CoverageSet, index: int) -> str:
    """The mean return of the policy and the spread of single episodes; empty for one execution."""
    if not coverage_set.is_repeated:
        return ""
    return (
        f"\nMean of {coverage_set.executions[index]} executions: "
        f"{vector(coverage_set.executed[index])} ± {vector(coverage_set.margin[index])} (95 %); "
        f"eight in ten lie between {vector(coverage_set.low[index])} and "
        f"{vector(coverage_set.high[index])}"
    )


def step_table(episode: PlayedEpisode) -> Table:
    """One row per step; the command is that of the next step."""
    commanded = episode.command is not None
    columns = ["step", "action", "reward"]
    columns += ["command: desired return", "desired horizon"] if commanded else []
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right")
    if episode.command is not None:
        command = episode.command
        table.add_row("", "", "", vector(command.desired_return), f"{command.desired_horizon:g}")
    for step in episode.steps:
        cells = [str(step.number), escape(step.action), vector(step.reward)]
        if step.command is not None:
            cells += [vector(step.command.desired_return), f"{step.command.desired_horizon:g}"]
        table.add_row(*cells)
    return table


def last_line(
    episode: PlayedEpisode,
    requested: Float[np.ndarray, " objective"],
    tolerances: Tolerances,
) -> str:
    """The executed return beside the requested one."""
    total = episode.total
    missing = requested - total
    commanded = episode.command is not None
    verdict = "as requested" if commanded else "as in training"
    if np.any(missing > tolerances):
        verdict = f"short by {vector(np.maximum(missing, 0))}"
    elif np.any(missing < -np.asarray(tolerances)):
        verdict = "more than was requested" if commanded else "more than in training"
    discounted = "" if episode.discount == 1 else f" (discounted by {episode.discount:g})"
    ending = "the environment ended it" if episode.terminated else "the step limit ended it"
    return (
        f"\nExecuted {vector(total)}{discounted} in {count_of(len(episode.steps), 'step')} "
        f"({ending}): "
        f"{verdict}"
    )
