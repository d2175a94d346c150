"""The paper's Table 1 with its own numbers beside ours, as Markdown, CSV and LaTeX."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pcn.experiments.comparison.comparison import KINDS, Comparison
from pcn.experiments.comparison.entrant import in_order
from pcn.experiments.comparison.statistics import deviation
from pcn.experiments.comparison.tables import HEADLINE, NAMES, Table
from pcn.experiments.comparison.writing import scaled_down
from pcn.experiments.published import BENCHMARKS, PUBLISHED
from pcn.experiments.tables import NOTHING, markdown_table
from pcn.metrics import METRICS

PAPER = "paper"
"""The row with the published numbers, below those of `KINDS`."""
DECIMALS = {"hypervolume": 2, "epsilon": 3, "epsilon_mean": 4}
TITLES = {"pcn": "PCN", "mones": "MONES", "ra": "RA"}
IN_LATEX = {
    "hypervolume": "hypervolume",
    "epsilon": r"$I_\varepsilon$",
    "epsilon_mean": r"$I_{\varepsilon-mean}$",
}


@dataclass(frozen=True)
class Cell:
    """Mean and standard deviation over seeds, in one row and column."""

    mean: float
    deviation: float | None
    num_seeds: int | None = None
    """None for published numbers."""

    def shown(self, metric: str, *, plus_minus: str = "±") -> str:
        """As in the paper, with as many decimals."""
        if self.deviation is None:
            return f"{self.mean:g}"  # no more digits than were published
        digits = DECIMALS[metric]
        return f"{self.mean:.{digits}f} {plus_minus} {self.deviation:.{digits}f}"


@dataclass(frozen=True)
class Row:
    """One environment, executed, archive or published: a cell for each metric and label."""

    environment: str
    kind: str
    cells: dict[tuple[str, str], Cell]

    def best(self, metric: str) -> set[str]:
        """The labels with the best mean, as it is printed."""
        means = {
            label: round(cell.mean, DECIMALS[metric])
            for (name, label), cell in self.cells.items()
            if name == metric
        }
        choose = max if METRICS[metric].higher_is_better else min
        return {label for label, mean in means.items() if mean == choose(means.values())}


@dataclass(frozen=True)
class Table1:
    """The rows, the labels of the columns, and what a reader has to know."""

    rows: tuple[Row, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    scale: float = 1.0
    """Which part of its steps every run had."""

    def to_markdown(self) -> str:
        """A table with a column for each metric and label; the best of a row is bold."""
        header = ["", ""] + [
            f"{NAMES[metric]}: {title_of(label)}" for metric, label in self._columns
        ]
        rows = [
            [BENCHMARKS[row.environment].title, row.kind, *self._in_markdown(row)]
            for row in self.rows
        ]
        notes = "\n".join(f"- {note}" for note in self.notes)
        return f"# Table 1\n\n{markdown_table(header, rows, words=2)}\n\n{notes}\n"

    def _in_markdown(self, row: Row) -> Iterator[str]:
        for metric, label in self._columns:
            cell = row.cells.get((metric, label))
            text = NOTHING if cell is None else cell.shown(metric)
            yield f"**{text}**" if cell and label in row.best(metric) else text

    def to_latex(self) -> str:
        """The paper's layout: metrics side by side, algorithms within each."""
        count = len(self.labels)
        remark = scaled_down(self.scale).strip()
        width = 2 + len(self._columns)
        lines = [
            r"\begin{tabular}{|l|l|" + "|".join(["c|" * count] * len(HEADLINE)) + "}",
            r"\hline",
            *([f"\\multicolumn{{{width}}}{{|c|}}{{{remark}}} \\\\", r"\hline"] if remark else []),
            " & "
            + "".join(f" & \\multicolumn{{{count}}}{{c|}}{{{IN_LATEX[m]}}}" for m in HEADLINE)
            + r" \\",
            " & " + "".join(f" & {_latex(title_of(label))}" for _, label in self._columns) + r" \\",
        ]
        for number, row in enumerate(self.rows):
            if number == 0 or self.rows[number - 1].environment != row.environment:
                lines.append(r"\hline")
            cells = " & ".join(self._in_latex(row))
            lines.append(f"{BENCHMARKS[row.environment].title} & {row.kind} & {cells} \\\\")
        comments = [f"% {note}" for note in self.notes]
        return "\n".join([*comments, *lines, r"\hline", r"\end{tabular}", ""])

    def _in_latex(self, row: Row) -> Iterator[str]:
        for metric, label in self._columns:
            cell = row.cells.get((metric, label))
            if cell is None:
                yield "--"
                continue
            text = cell.shown(metric, plus_minus=r"\pm")
            yield f"$\\mathbf{{{text}^*}}$" if label in row.best(metric) else f"${text}$"

    def to_csv(self) -> Table:
        """A row for each number."""
        header = ["environment", "kind", "metric", "algorithm", "mean", "deviation"]
        header += ["seeds", "scale"]
        rows: list[list[Any]] = [
            [
                *(row.environment, row.kind, metric, label),
                *(cell.mean, cell.deviation, cell.num_seeds),
                1.0 if row.kind == PAPER else self.scale,
            ]
            for row in self.rows
            for (metric, label), cell in row.cells.items()
        ]
        return header, [["" if value is None else value for value in row] for row in rows]

    @property
    def _columns(self) -> list[tuple[str, str]]:
        return [(metric, label) for metric in HEADLINE for label in self.labels]


def title_of(label: str) -> str:
    """A label as a table's head.

    >>> title_of("pcn"), title_of("pcn-paper")
    ('PCN', 'PCN (paper)')
    """
    algorithm, _, rest = label.partition("-")
    title = TITLES.get(algorithm, algorithm)
    return f"{title} ({rest})" if rest else title


def algorithm_of(label: str) -> str:
    """The algorithm that a label begins with."""
    return label.partition("-")[0]


def table1(comparisons: Sequence[Comparison], scale: float = 1.0) -> Table1 | None:
    """The table of those comparisons that are of the paper's environments; None without any."""
    found = {
        comparison.environment: comparison
        for comparison in comparisons
        if comparison.environment in BENCHMARKS
    }
    if not found:
        return None
    ordered = [found[name] for name in BENCHMARKS if name in found]
    labels = sorted({label for one in ordered for label in one.labels}, key=in_order)
    rows = [
        row
        for comparison in ordered
        for row in (
            *(_ours(comparison, kind) for kind in KINDS),
            _published(comparison.environment, labels),
        )
    ]
    return Table1(tuple(rows), tuple(labels), tuple(_notes(ordered, scale)), scale)


def _ours(comparison: Comparison, kind: str) -> Row:
    cells = {
        (metric, label): Cell(float(values.mean()), deviation(values), len(values))
        for metric in HEADLINE
        if metric in comparison.metrics
        for label, values in comparison.values(metric, kind).items()
    }
    return Row(comparison.environment, kind, cells)


def _published(environment: str, labels: Sequence[str]) -> Row:
    cells = {
        (metric, label): Cell(*PUBLISHED[environment, algorithm_of(label)][metric])
        for metric in HEADLINE
        for label in labels
        if (environment, algorithm_of(label)) in PUBLISHED
    }
    return Row(environment, PAPER, cells)


def _notes(comparisons: Sequence[Comparison], scale: float) -> Iterator[str]:
    if scale != 1:
        yield f"SCALED DOWN: every run had {scale:g} of its steps; nothing here is a result."
    yield (
        "Mean ± standard deviation over seeds (divided by one less than their number). "
        "Hypervolume: higher is better; I_eps and I_eps_mean: lower is better. The best of each "
        "row is bold."
    )
    yield (
        "executed: what the final policies return when they are run. archive: non-dominated "
        "returns found in training, which is what the paper's PCN numbers are of. paper: as "
        "published, the same for every preset of an algorithm; the deviations of hypervolumes "
        "divide by the number of seeds there; I_eps_mean is not in the printed table, and only "
        "its means are known."
    )
    for comparison in comparisons:
        title = BENCHMARKS[comparison.environment].title
        seeds = ", ".join(
            f"{title_of(label)} {len(comparison.of_label(label))}" for label in comparison.labels
        )
        point = ", ".join(f"{value:g}" for value in comparison.reference_point)
        yield (
            f"{title}: hypervolume from ({point}), I_eps against {comparison.measured_against}; "
            f"seeds: {seeds}."
        )


def _latex(text: str) -> str:
    """Text with what LaTeX reads as commands escaped."""
    return "".join(f"\\{letter}" if letter in "_&%#$" else letter for letter in text)
