"""Write the tables, figures and report of an experiment from its saved runs."""

from pathlib import Path

from pcn.errors import UserError
from pcn.experiments.comparison.comparison import compare
from pcn.experiments.comparison.writing import scaled_down, write_comparison
from pcn.experiments.paper_figures import write_paper_figures
from pcn.experiments.plan import check_types
from pcn.experiments.report import report
from pcn.experiments.table1 import table1
from pcn.serialisation.files import read_json, write_bytes, write_csv


def write_outputs(folder: Path) -> list[Path]:
    """Write tables, figures and `REPORT.md` of an experiment from its finished runs.

    `table1` is written if there are runs of the paper's environments. `figures` holds the paper's
    figures, and `comparison` has a folder for each environment. Times are only in `REPORT.md`,
    `costs.csv` and `hypervolume-seconds`: all other files depend only on the results of the runs.
    """
    plan = read_json(folder / "plan.json") if (folder / "plan.json").exists() else {}
    check_types(plan, str(folder / "plan.json"))
    scale = plan.get("scale", 1.0)
    comparisons, left_out = compare([folder])
    written: list[Path] = []
    try:
        table = table1(comparisons, scale)
        if table is not None:
            write_bytes(folder / "table1.md", table.to_markdown().encode())
            write_csv(folder / "table1.csv", *table.to_csv())
            write_bytes(folder / "table1.tex", table.to_latex().encode())
            written += [folder / f"table1.{suffix}" for suffix in ("md", "csv", "tex")]
        written += write_paper_figures(comparisons, folder / "figures", scale)
        for comparison in comparisons:
            place = folder / "comparison" / comparison.folder_name
            written += write_comparison(comparison, place, scaled_down(scale))
        write_bytes(folder / "REPORT.md", report(plan, comparisons, left_out).encode())
    except OSError as error:
        raise UserError(
            f"cannot write to {error.filename or folder}: {error.strerror or error}"
        ) from None
    return [*written, folder / "REPORT.md"]
