"""`pcn check`: report on an environment without training."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import tyro
from rich.markup import escape
from rich.table import Table

from pcn.cli.interrupt import end_on_interrupt
from pcn.cli.options import (
    environment_options,
    environment_taker,
    groups_of,
    refuse_options_of_others,
)
from pcn.cli.screen import console, next_steps, number, print_fact, print_table, vector
from pcn.runs.checking import CHECK_SECONDS, EnvironmentCheck, check

INDENT = 14
"""Columns that keywords take."""


@dataclass(frozen=True)
class CheckOptions:
    """Report what random episodes show about an environment, without training.

    The episodes take 10,000 steps and a minute at most; compiled environments are also timed. A
    finding that is wrong can be corrected by an option, here and in `pcn train`.
    """

    environment: tyro.conf.Positional[str]
    """One that `pcn envs` lists, an id of Gymnasium, or `module:Name` of your own."""

    def __call__(self) -> None:
        """Check, and print what was found."""
        arguments: dict[str, Any] = {}
        for group in GROUPS:
            arguments |= getattr(self, group)
        taker = environment_taker(self.environment)
        refuse_options_of_others(arguments, ARGUMENTS, taker, self.environment)
        console.print(
            f"Running random episodes of {escape(self.environment)}, "
            f"for {CHECK_SECONDS:.0f} seconds at most\n"
        )
        with end_on_interrupt():
            found = check(self.environment, arguments=arguments)
        show(found, self.environment)


ARGUMENTS = environment_options()
GROUPS = {
    f"group_{index}": (title, kind)
    for index, (title, kind) in enumerate(groups_of(ARGUMENTS.values()).items())
}
"""Field name -> title and type of each group of options."""

Check = dataclasses.make_dataclass(
    "Check",
    [
        (name, Annotated[kind, tyro.conf.arg(name=title)], field(default_factory=dict))
        for name, (title, kind) in GROUPS.items()
    ],
    bases=(CheckOptions,),
    frozen=True,
)
Check.__doc__ = CheckOptions.__doc__


def show(found: EnvironmentCheck, name: str) -> None:
    """Print a check: the objectives in a table, everything else in a line each."""
    print_table(objective_table(found))
    console.print()
    notes = (("note", sentence) for sentence in found.advice)
    for keyword, text in (*facts(found), *notes):
        print_fact(keyword, text, INDENT)
    next_steps((f"train {name} --out RUN", "train and record the run in RUN"))


def objective_table(found: EnvironmentCheck) -> Table:
    """One row per objective: what random episodes returned, and the reference point."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("objective", "lowest", "median", "highest", "reference point"):
        table.add_column(column, justify="left" if column == "objective" else "right")
    parts = zip(found.spec.objectives, found.returns.T, found.spec.reference_point, strict=True)
    for objective, returns, reference in parts:
        cells = (returns.min(), np.median(returns), returns.max(), reference)
        table.add_row(escape(objective.name), *(number(float(cell)) for cell in cells))
    return table


def facts(found: EnvironmentCheck) -> Iterator[tuple[str, str]]:
    """The findings, each with a keyword."""
    spec, evidence = found.spec, found.evidence
    kind = "deterministic" if spec.deterministic else "stochastic"
    yield "outcomes", f"{kind}: {evidence.determinism_summary}"
    if evidence.seed_respected is not None:
        respected = evidence.seed_respected
        yield "seed", "respected" if respected else "ignored: the same seed had another outcome"
    yield "observations", str(spec.observation_space)
    masked = ", some of which masks forbid" if spec.masked_actions else ""
    yield "actions", f"{spec.action_space}{masked}"
    lengths = evidence.lengths
    yield (
        "episodes",
        f"{min(lengths)} to {max(lengths)} steps, median {np.median(lengths):g} "
        f"({len(lengths)} random ones)",
    )
    yield "step limit", f"{spec.step_limit:,} ({evidence.step_limit_source})"
    yield "conflict", conflict_sentence(found)
    discounted = "" if found.discount == 1 else f", returns discounted by {found.discount:g}"
    yield (
        "cost",
        f"{found.steps_per_second:,.0f} steps per second: {found.total_steps:,} steps, the "
        "default, take "
        f"the environment about {duration(found.seconds)}, and learning comes on top"
        f"{discounted}",
    )
    yield "this check", f"{found.num_steps:,} steps"
    if spec.front is not None:
        yield "front", f"{spec.front.status}, {len(spec.front.returns)} points: {spec.front.source}"


def conflict_sentence(found: EnvironmentCheck) -> str:
    """Whether the objectives conflict, as far as random episodes show."""
    distinct = f"{found.front_size} of {len(found.returns)} random returns are non-dominated"
    names = found.spec.objective_names
    pairs = [(a, b) for a in range(len(names)) for b in range(a)]
    a, b = min(pairs, key=lambda pair: found.correlation[pair])
    lowest = found.correlation[a, b]
    opposed = f"; {names[b]} and {names[a]} are most opposed, correlation {lowest:.2f}"
    if not found.conflict:
        best = vector(found.returns.max(axis=0))
        return f"none seen: one random episode, {best}, is the best in every objective"
    return f"yes: {distinct}{opposed if lowest < 0 else ''}"


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.1f} seconds"
