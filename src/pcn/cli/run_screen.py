"""Print a run: its policies, its metrics, its files and what to type next."""

import shlex
from typing import Any

from rich.markup import escape
from rich.table import Table

from pcn.cli.screen import (
    console,
    count_of,
    next_steps,
    number,
    print_fact,
    print_table,
    quoted,
    wrapped,
)
from pcn.coverage import CoverageSet
from pcn.envs.spec import EnvironmentSpec
from pcn.metrics import reached_mask
from pcn.pareto import PARETO
from pcn.runs.folder import FILES
from pcn.runs.run import Run

MOST_ROWS = 40
"""Longer fronts are shown in part; the whole is in `front.csv`."""


def front_table(
    coverage_set: CoverageSet, spec: EnvironmentSpec, *, takes_commands: bool = True
) -> Table:
    """One row per policy: executed return and, where policies take a command, the requested one.

    Where policies were executed several times, means have their 95 % intervals, and the range of
    eight in ten single returns stands beside them.
    """
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("policy", justify="right")
    names = [escape(name) for name in spec.objective_names]
    for name in names if takes_commands else ():
        table.add_column(f"requested {name}", justify="right")
    table.add_column("in steps", justify="right")
    for name in names if coverage_set.is_executed else ():
        table.add_column(f"executed {name}", justify="right")
    if coverage_set.is_repeated:
        for name in names:
            table.add_column(f"10 to 90 % {name}", justify="right")
        table.add_column("executions", justify="right")
    table.add_column("")
    reached = reached_mask(coverage_set.requested, coverage_set.executed, coverage_set.slack)
    short = ~reached & takes_commands
    front_mask = coverage_set.front_mask
    for index in range(min(len(coverage_set), MOST_ROWS)):
        remark = "falls short" if short[index] else ("" if front_mask[index] else "dominated")
        remark = remark if coverage_set.is_executed else "NOT EXECUTED"
        table.add_row(
            str(index),
            *(number(value) for value in coverage_set.requested[index] if takes_commands),
            number(coverage_set.horizons[index]),
            *(executed_cells(coverage_set, index) if coverage_set.is_executed else ()),
            remark,
        )
    return table


def executed_cells(coverage_set: CoverageSet, index: int) -> list[str]:
    """The executed return of a policy, with its uncertainty."""
    means = [number(value) for value in coverage_set.executed[index]]
    if not coverage_set.is_repeated:
        return means
    margins = coverage_set.margin[index]
    ranges = zip(coverage_set.low[index], coverage_set.high[index], strict=True)
    return [
        *(f"{mean} ± {margin:.2g}" for mean, margin in zip(means, margins, strict=True)),
        *(f"{low:.4g} to {high:.4g}" for low, high in ranges),
        str(coverage_set.executions[index]),
    ]


def show_coverage_set(
    coverage_set: CoverageSet,
    spec: EnvironmentSpec,
    metrics: dict[str, Any],
    *,
    takes_commands: bool = True,
) -> None:
    """Print the table of policies and the metrics that sum it up."""
    print_table(front_table(coverage_set, spec, takes_commands=takes_commands))
    if len(coverage_set) > MOST_ROWS:
        console.print(f"... and {len(coverage_set) - MOST_ROWS} more; all are in front.csv")
    order = coverage_set.order
    executed, archive, fidelity = metrics["executed"], metrics["archive"], metrics["fidelity"]
    console.print()
    if not coverage_set.is_executed:
        _show_unexecuted(metrics)
        return
    parts = [
        f"hypervolume {number(executed['hypervolume'])}{_interval(executed)}",
        count_of(
            executed["cardinality"], f"{order.adjective} policy", f"{order.adjective} policies"
        ),
    ]
    if "epsilon" in executed:
        parts.insert(1, f"I_eps {number(round(executed['epsilon'], 6))}")
        parts.insert(2, f"I_eps_mean {number(round(executed['epsilon_mean'], 6))}")
    if "front_share" in executed:
        parts.append(f"{executed['front_share']:.1%} of the true front")
    if spec.front is not None:
        count = int(order.non_dominated_mask(spec.front.returns).sum())
        part = "" if order == PARETO else f"{count} {order.adjective} of "
        points = count_of(len(spec.front.returns), "point")
        parts[-1] += f" ({spec.front.status} front: {part}{points})"
    print_fact("executed", " · ".join(parts))
    print_fact(
        "archive",
        f"hypervolume {number(archive['hypervolume'])} · "
        f"{count_of(archive['cardinality'], f'{order.adjective} return')} found in training",
    )
    if "gini" in executed and order.needs_one_unit:
        print_fact(
            "fairness",
            "above the reference point, the worst-off objective gets up to "
            f"{number(executed['worst_off'])} · Sen welfare up to "
            f"{number(executed['sen_welfare'])} · mean Gini index {number(executed['gini'])}",
        )
    if order != PARETO:
        print_fact("order", f"{order.description} decides which returns are better")
    if archive["hypervolume"] == 0:
        point = ", ".join(number(value) for value in spec.reference_point)
        print_fact(
            "note",
            f"no return beats the reference point ({point}) in every objective, "
            "so every hypervolume is zero",
        )
    if not takes_commands:
        return
    num_requested = len(coverage_set) + metrics.get("stopped", 0)
    as_requested = round(fidelity["exact"] * num_requested)
    asked = count_of(num_requested, "policy returns", "policies return")
    within = ", within their intervals" if coverage_set.is_repeated else ""
    print_fact(
        "fidelity",
        f"{as_requested} of {asked} what was requested{within}; "
        f"mean shortfall {number(fidelity['distance'])} of the range",
    )


def _show_unexecuted(metrics: dict[str, Any]) -> None:
    """Print what the stored episodes support, and that nothing was executed."""
    archive, predicted = metrics["archive"], metrics.get("predicted", {})
    console.print(f"[bold]{escape(wrapped(metrics['not_executed']))}[/]")
    print_fact(
        "data",
        f"hypervolume {number(archive['hypervolume'])} · "
        f"{count_of(archive['cardinality'], 'non-dominated return')} among its episodes",
    )
    if predicted:
        print_fact(
            "fit",
            f"the network predicts every action of {predicted['episodes']} of "
            f"these {predicted['of']} episodes",
        )


def _interval(executed: dict[str, Any]) -> str:
    """The interval of a hypervolume of means, and its uncorrected value."""
    if "hypervolume_interval" not in executed:
        return ""
    low, high = executed["hypervolume_interval"]
    before = number(executed["hypervolume_uncorrected"])
    return f" (95 %: {number(low)} to {number(high)}; {before} with what chance adds)"


def show_run(run: Run) -> None:
    """Print the front, the metrics, what was written and what to type next."""
    console.print()
    show_coverage_set(run.coverage_set, run.spec, run.metrics, takes_commands=run.takes_commands)
    phases = run.metrics["steps_by_phase"]
    parts = ", ".join(f"{phase} {steps:,}" for phase, steps in phases.items() if steps)
    steps = f"{run.metrics['steps']:,} environment steps ({parts})" if parts else "no steps"
    print_fact("training", f"{steps} in {run.metrics['seconds']:.1f} s")
    # A checkpoint may be missing: a disk that is full does not stop a training.
    files = [name for name in FILES if run.path is not None and (run.path / name).exists()]
    written = wrapped(f"Wrote {shlex.quote(str(run.path))}: {', '.join(files)}")
    console.print(f"\n{escape(written)}")
    middle = len(run.coverage_set) // 2
    again = " again" if run.is_executed else ""
    next_steps(
        (f"explore {quoted(run.path)}", "look at the front, pick a policy, watch it"),
        (f"play {quoted(run.path)} --policy {middle}", "run the policy you pick, step by step"),
        (f"plot {quoted(run.path)} --out front.png", "draw the front"),
        (f"evaluate {quoted(run.path)}", f"execute every policy{again}"),
    )
