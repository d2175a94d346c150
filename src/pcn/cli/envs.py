"""`pcn envs`: list the environments."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.markup import escape
from rich.table import Table

import pcn.envs
from pcn.cli.process import set_up_process
from pcn.cli.screen import console, next_steps, print_table
from pcn.envs.entry_points import installed_names
from pcn.envs.registry import ENVIRONMENTS
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError, perhaps

COLUMNS = ("environment", "objectives", "actions", "step limit", "budget", "front")
OVERVIEW = Path(pcn.envs.__file__).with_name("overview.json")
"""The rows of our environments, so that none has to be created; `python -m pcn.cli.envs` writes
it."""
MOST_OBJECTIVES = 4
"""The most objectives that are all named in the table; of more only the first and the last are."""


@dataclass(frozen=True)
class Envs:
    """List the environments: objectives, sizes, budgets and what is known of their fronts."""

    names: Annotated[
        tyro.conf.Positional[tuple[str, ...]],
        tyro.conf.arg(metavar="[ENVIRONMENT ...]", help_behavior_hint="(default: all)"),
    ] = ()
    """Only these environments."""
    verbose: tyro.conf.FlagCreatePairsOff[bool] = False
    """Also show what the recipe of each changes for each algorithm and preset, and why."""

    def __call__(self) -> None:
        """Print the table."""
        for name in self.names:
            if name not in ENVIRONMENTS:
                known = ", ".join(ENVIRONMENTS)
                meant = perhaps(name, ENVIRONMENTS)
                raise UserError(f"no environment is called {name!r}{meant}; there are: {known}")
        names = self.names or tuple(ENVIRONMENTS)
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in COLUMNS:
            table.add_column(column)
        written = json.loads(OVERVIEW.read_text()) if OVERVIEW.exists() else {}
        for name in names:
            cells = written.get(name) or cells_of(name)
            table.add_row(name, *(escape(cell) for cell in cells))
        print_table(table)
        if self.verbose:
            for name in names:
                _show_recipe(name)
        for name, value in installed_names().items():
            console.print(f"{escape(name)}: {escape(value)}, from an installed package")
        next_steps(
            (f"train {names[0]} --out RUN", "train and record the run in RUN"),
            ("train fruit-tree-v0 --out RUN", "the same for any id of Gymnasium or MO-Gymnasium"),
            ("train gymnax:NAME --rewards my_module:rewards --out RUN", "of gymnax, jumanji, brax"),
            ("train my_module:make_env --out RUN", "the same for an environment of your own"),
            (f"envs {names[0]} --verbose", "what its recipe changes, and why"),
        )


def cells_of(name: str) -> list[str]:
    """The row of an environment, which is created for it."""
    set_up_process(jax=True)
    from pcn.envs.finding import find_environment
    from pcn.nets.heads import action_head_for
    from pcn.recipes import recipe_for

    spec = find_environment(name, {}).environment.spec
    front = "unknown"
    if spec.front is not None:
        front = f"{spec.front.status}, {len(spec.front.returns)} points"
    budget = recipe_for(name, {}, "pcn", "default", spec)[0]["total_steps"]
    return [
        _objectives(spec),
        str(action_head_for(spec.action_space).num_outputs),
        str(spec.step_limit),
        f"{budget:,} steps",
        front,
    ]


def _objectives(spec: EnvironmentSpec) -> str:
    names = [
        f"{objective.name} ({'max' if objective.direction == 'maximise' else 'min'})"
        for objective in spec.objectives
    ]
    if len(names) > MOST_OBJECTIVES:
        names = [names[0], "…", f"{names[-1]}: {len(names)} objectives"]
    return ", ".join(names)


def _show_recipe(name: str) -> None:
    """Print what a recipe changes: a paragraph for each algorithm and preset, a line per value."""
    from pcn.algorithms import ALGORITHMS
    from pcn.recipes import recipe_for

    console.print(f"\n[bold]{name}[/]: {ENVIRONMENTS[name].summary}")
    for algorithm, entry in ALGORITHMS.items():
        for preset in entry.presets:
            values, reasons = recipe_for(name, {}, algorithm, preset)
            console.print(f"  {algorithm}, {preset} preset")
            for option, value in values.items():
                console.print(
                    f"    {option} = {escape(str(value))}  [dim]{escape(reasons[option])}[/]"
                )


def overview() -> str:
    """What `overview.json` should hold: a line for each environment."""
    lines = [f"  {json.dumps(name)}: {json.dumps(cells_of(name))}" for name in ENVIRONMENTS]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    OVERVIEW.write_text(overview())
