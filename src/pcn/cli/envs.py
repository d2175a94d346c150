"""`pcn envs`: what can be trained on."""

from dataclasses import dataclass

import tyro
from rich.markup import escape
from rich.table import Table

from pcn.algorithms import ALGORITHMS
from pcn.cli.screen import console, next_steps, print_table
from pcn.envs.entry_points import installed_names
from pcn.envs.finding import find_environment
from pcn.envs.registry import ENVIRONMENTS
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError
from pcn.nets.heads import action_head_for
from pcn.recipes import recipe_for


@dataclass(frozen=True)
class Envs:
    """List the environments: objectives, sizes, budgets and what is known of their fronts."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """Only these environments."""
    verbose: tyro.conf.FlagCreatePairsOff[bool] = False
    """Also show what the recipe of each changes for each algorithm and preset, and why."""

    def __call__(self) -> None:
        """Print the table."""
        for name in self.names:
            if name not in ENVIRONMENTS:
                known = ", ".join(ENVIRONMENTS)
                raise UserError(f"no environment is called {name!r}; there are: {known}")
        names = self.names or tuple(ENVIRONMENTS)
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in ("environment", "objectives", "actions", "step limit", "budget", "front"):
            table.add_column(column)
        for name in names:
            table.add_row(name, *_cells(name, find_environment(name, {}).environment.spec))
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


def _cells(name: str, spec: EnvironmentSpec) -> list[str]:
    """A row of the table."""
    front = "unknown"
    if spec.front is not None:
        front = f"{spec.front.status}, {len(spec.front.returns)} points"
    objectives = ", ".join(
        f"{objective.name} ({'max' if objective.direction == 'maximise' else 'min'})"
        for objective in spec.objectives
    )
    budget = recipe_for(name, {}, "pcn", "default", spec)[0]["total_steps"]
    return [
        objectives,
        str(action_head_for(spec.action_space).num_outputs),
        str(spec.step_limit),
        f"{budget:,} steps",
        front,
    ]


def _show_recipe(name: str) -> None:
    """Print what a recipe changes: a paragraph for each algorithm and preset, a line per value."""
    console.print(f"\n[bold]{name}[/]: {ENVIRONMENTS[name].summary}")
    for algorithm, entry in ALGORITHMS.items():
        for preset in entry.presets:
            values, reasons = recipe_for(name, {}, algorithm, preset)
            console.print(f"  {algorithm}, {preset} preset")
            for option, value in values.items():
                console.print(f"    {option} = {value}  [dim]{reasons[option]}[/]")
