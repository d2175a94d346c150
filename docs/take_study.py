"""Puts the tables and figures of a finished `pcn reproduce` into the pages: `python docs/take_study.py STUDY`.

The study is only read. One that was scaled down is refused, and environments with fewer than five seeds of some
algorithm are left out and named.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pcn.errors import UserError
from pcn.experiments.comparison.comparison import compare
from pcn.experiments.comparison.tables import NAMES
from pcn.experiments.paper_figures import write_paper_figures
from pcn.experiments.table1 import table1, title_of
from pcn.experiments.tables import markdown_table
from pcn.metrics import METRICS
from pcn.serialisation.files import read_json, write_csv

FEWEST_SEEDS = 5
CAPTIONS = {
    "dst": "Deep Sea Treasure: the best executed coverage set of each algorithm",
    "minecart": "Minecart: the best executed coverage set of each algorithm, ore, ore and fuel",
    "crossroad": "Crossroad: the best executed coverage set of each algorithm",
    "walkroom": "Walkroom: hypervolume by the number of objectives, over rooms",
}
BEGIN, END = "<!-- figures of the study -->", "<!-- end of the figures -->"
REMARKS = "<!-- remarks, written by hand -->"
"""What stands behind this in `results/paper.md` stays."""


def main(study, docs=Path(__file__).parent):
    """Write `results/paper.md`, its report, CSV files and pictures, and the figures in `how-it-works.md`."""
    scale = read_json(study / "plan.json")["scale"]
    if scale != 1:
        raise UserError(f"{study} was scaled down to {scale:g} of its steps: it is no result")
    comparisons, _ = compare([study])
    finished, short = [], []
    for one in comparisons:
        fewest = min(len(one.of_label(label)) for label in one.labels)
        (finished if fewest >= FEWEST_SEEDS else short).append(one)
    table = table1(finished)
    if table is None:
        raise UserError(
            f"{study} has no environment of Table 1 with {FEWEST_SEEDS} seeds of each algorithm"
        )
    write_csv(docs / "results" / "table1.csv", *table.to_csv())
    pictures = docs / "images" / "paper"
    pictures.mkdir(parents=True, exist_ok=True)
    figures = []
    with TemporaryDirectory() as folder:
        write_paper_figures(finished, Path(folder), 1.0)
        for name, caption in CAPTIONS.items():
            if (Path(folder) / f"{name}.png").exists():
                shutil.copy(Path(folder) / f"{name}.png", pictures)
                shutil.copy(Path(folder) / f"{name}.csv", docs / "results" / f"figure-{name}.csv")
                figures.append(
                    f"![{caption}](images/paper/{name}.png)\n\n*{caption}.* [Its numbers](results/figure-{name}.csv)."
                )
    page = docs / "how-it-works.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(
        before + BEGIN + "\n\n" + "\n\n".join(figures) + "\n\n" + END + after, encoding="utf-8"
    )
    page = docs / "results" / "paper.md"
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    _, mark, remarks = old.partition(REMARKS)
    made = paper_page(table, finished)
    page.write_text(f"{made}\n{mark}{remarks}" if mark else made, encoding="utf-8")
    report = (study / "REPORT.md").read_text(encoding="utf-8").partition("\n")[2]
    text = f"# The paper's experiments: commands, seeds, versions and time\n{report}"
    (docs / "results" / "paper-report.md").write_text(text, encoding="utf-8")
    return [one.environment for one in short]


def paper_page(table, comparisons):
    """Table 1, an environment and a metric at a time, and what it was made of."""
    parts = [
        "# The paper's experiments\n",
        "This page compares our runs with Table 1 of the paper, on seeds on which no setting was chosen. The figures are in\n"
        "[how PCN works](../how-it-works.md#the-papers-figures-from-our-runs), all numbers in [table1.csv](table1.csv), and\n"
        "commands, seeds and times in the [report](paper-report.md). `pcn reproduce` made the runs ([how](../many-runs.md)).\n",
    ]
    header = ["", "metric", "of", *(title_of(label) for label in table.labels)]
    metrics = [
        name
        for name in METRICS
        if any(name == metric for row in table.rows for metric, _ in row.cells)
    ]
    rows = []
    for environment in dict.fromkeys(row.environment for row in table.rows):
        for metric in metrics:
            for row in table.rows:
                if row.environment == environment:
                    cells = [row.cells.get((metric, label)) for label in table.labels]
                    shown = ["" if cell is None else cell.shown(metric) for cell in cells]
                    rows.append([environment, NAMES.get(metric, metric), row.kind, *shown])
    parts.append(markdown_table(header, rows).rstrip() + "\n")
    notes = (note.removesuffix(" The best of each row is bold.") for note in table.notes)
    parts.append("\n".join(f"- {note}" for note in notes) + "\n")
    versions = sorted(
        {entrant.run.metrics["made_with"]["pcn"] for one in comparisons for entrant in one.entrants}
    )
    parts.append(f"The runs were made with version {', '.join(versions)} of `pcn`.\n")
    return "\n".join(parts)


if __name__ == "__main__":
    try:
        left_out = main(Path(sys.argv[1]))
    except (UserError, IndexError) as error:
        sys.exit(str(error) if isinstance(error, UserError) else __doc__)
    if left_out:
        print(f"Left out, not finished yet: {', '.join(left_out)}")
