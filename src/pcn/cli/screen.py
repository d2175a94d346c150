"""Print tables, metrics, next steps and error messages."""

import io
import os
import shlex
import shutil
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from pcn.cli.narrow_tables import narrow_parts
from pcn.coverage import CoverageSet
from pcn.envs.spec import EnvironmentSpec
from pcn.metrics import reached_mask
from pcn.pareto import PARETO
from pcn.runs.folder import FILES
from pcn.runs.run import Run


class _Screen(Console):
    """A console that lets a command continue when the reader of a pipe has closed it."""

    def on_broken_pipe(self) -> None:
        """Continue without a reader."""
        discard_output()


def discard_output() -> None:
    """Redirect standard output to /dev/null, as after a broken pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_streams() -> None:
    """Replace standard streams that are closed, and make encoding errors harmless.

    Characters that the terminal's encoding does not have become question marks.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller, as in `pcn envs >&-`
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


open_streams()
# Where there is no terminal, lines are as long as they need to be.
console = _Screen(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)

MOST_ROWS = 40
"""Longer fronts are shown in part; the whole is in `front.csv`."""


def quoted(path: object) -> str:
    """A path quoted for a shell, and escaped for rich."""
    return escape(shlex.quote(str(path)))


def print_table(table: Table) -> None:
    """Print a table as wide as it is; in a narrow terminal, in as many parts as needed."""
    parts = narrow_parts(table, console) if console.is_terminal else [table]
    for number, part in enumerate(parts):
        if number > 0:
            console.print()
        wide = console.options.update(width=10_000)
        width = Measurement.get(console, wide, part).maximum
        console.print(part, width=width, crop=False, no_wrap=True, overflow="ignore")


def print_sentence(sentence: str, to: Console | None = None) -> None:
    """Print a sentence, which a terminal breaks between words; elsewhere it is one line."""
    screen = to or console
    screen.print(sentence, soft_wrap=not screen.is_terminal)


def print_fact(keyword: str, text: str, indent: int = 10) -> None:
    """Print a keyword in bold and a sentence behind it, which starts in column `indent`."""
    console.print(f"[bold]{keyword:<{indent}}[/]{escape(wrapped(text, indent))}")


def wrapped(text: str, indent: int = 0) -> str:
    """A text that a terminal breaks between words; its further lines start in column `indent`."""
    room = console.width - indent
    if not console.is_terminal or room < indent:
        return text
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    return f"\n{'':<{indent}}".join(lines)


def complain(sentence: str) -> None:
    """Print one sentence on standard error, if it is open."""
    with suppress(OSError, ValueError):
        print(f"pcn: {' '.join(sentence.split())}", file=sys.stderr)


def number(value: float) -> str:
    """A number in up to six digits."""
    return f"{value + 0.0:.6g}"  # adding zero makes no minus zero


def count_of(count: float, noun: str, nouns: str = "") -> str:
    """A number with its noun; `nouns` is the plural if it does not end in s.

    >>> count_of(1, "step"), count_of(12, "step"), count_of(2, "policy", "policies")
    ('1 step', '12 steps', '2 policies')
    """
    return f"{count:g} {noun}" if count == 1 else f"{count:g} {nouns or noun + 's'}"


def vector(values: Any) -> str:
    """Several numbers in parentheses."""
    return "(" + ", ".join(number(float(value)) for value in values) + ")"


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


def next_steps(*commands: tuple[str, str]) -> None:
    """Print what to type next; commands are given without the program's name."""
    console.print("\nNext:")
    width = max(len(command) for command, _ in commands)
    widest = max(len(f"  {program()} {'':<{width}}   {purpose}") for _, purpose in commands)
    if console.is_terminal and widest > console.width:
        for command, purpose in commands:
            console.print(f"  {program()} {command}\n      [dim]{purpose}[/]")
        return
    for command, purpose in commands:
        console.print(f"  {program()} {command:<{width}}   [dim]{purpose}[/]")


def program() -> str:
    """How this program was called: `pcn` where the shell finds it, otherwise its path."""
    called = Path(sys.argv[0])
    if called.stem != "pcn" or shutil.which("pcn") == str(called.resolve()):
        return "pcn"
    if called.is_absolute() and called.is_relative_to(Path.cwd()):
        return str(called.relative_to(Path.cwd()))
    return str(called)
