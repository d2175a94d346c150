"""`pcn compare`: runs side by side, over seeds."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from pcn.cli.positionals import RunFolders
from pcn.cli.screen import complain, console, next_steps, print_table, quoted, vector
from pcn.errors import UserError

if TYPE_CHECKING:
    from pcn.experiments.comparison.comparison import Comparison


@dataclass(frozen=True)
class Compare:
    """Compare runs over seeds, environment by environment; nothing is trained.

    Prints and draws mean, interquartile mean and 95 % bootstrap intervals of each metric,
    hypervolume against steps and against seconds, the probability of improvement, and the union
    front. A CSV file with another tool's returns can be compared, too. It has a column for each
    objective, all maximised, and optional columns `algorithm`, `seed` and `environment`.
    """

    runs: RunFolders
    """Run folders, folders with runs anywhere in them, and .csv files of other tools' returns."""
    out: Path = Path("comparison")
    """The folder for tables and pictures, one folder in it for each environment."""
    reference_point: tuple[float, ...] | None = None
    """Measure hypervolume from this point instead of the environment's own."""

    def __call__(self) -> None:
        """Compare, print and write."""
        if not self.runs:
            raise UserError("which runs? Name their folders, as in `pcn compare runs`")
        # Statistics and drawing take a while to import; no other command should wait for them.
        from pcn.experiments.comparison.comparison import compare
        from pcn.experiments.comparison.writing import write_comparison

        comparisons, left_out = compare(self.runs, reference_point=self.reference_point)
        for line in left_out:
            complain(line)
        for comparison in comparisons:
            _show(comparison)
            folder = self.out / comparison.folder_name
            written = write_comparison(comparison, folder)
            names = ", ".join(dict.fromkeys(path.stem for path in written))
            console.print(f"Wrote {quoted(folder)}: {names}\n")
        source = next(
            entrant.source for entrant in comparisons[0].entrants if entrant.run is not None
        )
        next_steps((f"plot {quoted(source)} --out front.png", "draw the front of one run"))


def _show(comparison: "Comparison") -> None:
    """Print the tables of one environment."""
    from pcn.experiments.comparison.improvement import improvements
    from pcn.experiments.comparison.tables import (
        contribution_table,
        printed_table,
        summaries,
        with_interval,
    )
    from pcn.experiments.comparison.union_front import union_front
    from pcn.experiments.tables import shown

    console.print(f"[bold]{escape(comparison.environment)}[/]")
    console.print(
        f"hypervolume from {vector(comparison.reference_point)}; I_eps and I_eps_mean against "
        f"{comparison.measured_against}"
    )
    for note in comparison.notes:
        console.print(f"note: {note}")
    found = summaries(comparison)
    console.print("\nover seeds, with 95 % bootstrap intervals")
    _print(*printed_table(comparison, found), words=2)
    if len(comparison.labels) > 1:
        console.print("\nprobability that a seed of the first has more executed hypervolume")
        pairs = improvements(comparison, "hypervolume")
        _print(
            ["algorithm", "than", "probability", "p-value"],
            [
                [one.label, one.other, with_interval(one.probability), f"{one.p_value:.3g}"]
                for one in pairs
                if comparison.labels.index(one.label) < comparison.labels.index(one.other)
            ],
            words=2,
        )
    union = union_front(comparison)
    if union is not None:
        console.print(
            f"\nunion front: {len(union.points)} points, hypervolume {shown(union.hypervolume)}"
        )
        _, contributed = contribution_table(union)
        _print(
            ["algorithm", "points", "alone", "hypervolume, all seeds", "lost without it"],
            [[label, str(points), str(alone), *map(shown, volumes)]
             for label, points, alone, *volumes in contributed],
        )  # fmt: skip
    console.print()


def _print(header: list[str], rows: list[list[str]], *, words: int = 1) -> None:
    """Print a table whose first columns are `words`, and the others numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number < words else "right")
    for row in rows:
        table.add_row(*map(escape, row))
    print_table(table)
