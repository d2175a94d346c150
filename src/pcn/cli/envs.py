"""`pcn envs`: what can be trained on."""

from dataclasses import dataclass

from rich.table import Table

from pcn.cli.screen import next_steps, print_table
from pcn.envs.registry import BENCHMARKS
from pcn.nets.heads import action_head_for


@dataclass(frozen=True)
class Envs:
    """List the environments: objectives, sizes, budgets and what is known of their fronts."""

    def __call__(self) -> None:
        """Print the table."""
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in ("environment", "objectives", "actions", "step limit", "budget", "front"):
            table.add_column(column)
        for name, benchmark in BENCHMARKS.items():
            spec = benchmark.make().spec
            front = "unknown"
            if spec.front is not None:
                front = f"{spec.front.status}, {len(spec.front.returns)} points"
            objectives = ", ".join(
                f"{objective.name} ({'max' if objective.direction == 'maximise' else 'min'})"
                for objective in spec.objectives
            )
            table.add_row(
                name,
                objectives,
                str(action_head_for(spec.action_space).num_outputs),
                str(spec.step_limit),
                f"{benchmark.total_steps:,} steps",
                front,
            )
        print_table(table)
        next_steps(
            (f"train {next(iter(BENCHMARKS))} --out RUN", "train and record the run in RUN"),
            ("train fruit-tree-v0 --out RUN", "the same for any id of Gymnasium or MO-Gymnasium"),
            ("train my_module:make_env --out RUN", "the same for an environment of your own"),
        )
