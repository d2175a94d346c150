"""Table 1 in the paper's layout, beside the paper's own numbers."""

import numpy as np
import pytest

from made_runs import TREASURES, save_run, toy_spec
from pcn.experiments.comparison.comparison import compare
from pcn.experiments.published import PUBLISHED
from pcn.experiments.table1 import table1


def treasure_runs(folder, label, *executed):
    """Runs on Deep Sea Treasure that executed these returns, a seed each."""
    spec = toy_spec(name="deep-sea-treasure", front=TREASURES, reference_point=(0, -200))
    for seed, returns in enumerate(executed):
        place = folder / "runs" / "deep-sea-treasure" / label / f"seed-{seed}"
        save_run(place, returns, spec=spec, algorithm=label.partition("-")[0], seed=seed)


def made_table(folder, scale=1.0):
    return table1(compare([folder])[0], scale)


def cells(table, row):
    """The cells of a row of the Markdown table, without emphasis, by the header's names."""
    header, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.to_markdown().splitlines()
        if line.startswith("|")
    ]
    found = dict(zip(header[2:], rows[row][2:], strict=True))
    return rows[row][:2], {name: cell.replace("*", "") for name, cell in found.items()}


def test_four_complete_runs_and_one_without_a_treasure_are_the_paper_s_row(tmp_path):
    missing = TREASURES[TREASURES[:, 0] != 74]
    treasure_runs(tmp_path, "pcn", *[TREASURES] * 4, missing)
    treasure_runs(tmp_path, "ra", *[TREASURES[[0, -1]]] * 5)
    table = made_table(tmp_path)
    _, ours = cells(table, 0)
    _, paper = cells(table, 2)
    # Four times 9.6 and once 38.4, squared, divided by four; the paper divides by five here.
    assert ours["hypervolume: PCN"] == "22845.40 ± 21.47"
    assert paper["hypervolume: PCN"] == "22845.40 ± 19.20"
    assert ours["I_eps: PCN"] == paper["I_eps: PCN"] == "0.039 ± 0.087"
    assert ours["I_eps_mean: PCN"].startswith(paper["I_eps_mean: PCN"])
    assert ours["I_eps: RA"] == paper["I_eps: RA"] == "0.667 ± 0.000"


def test_executed_archive_and_paper_stand_below_one_another(tmp_path):
    spec = toy_spec(name="deep-sea-treasure", front=TREASURES, reference_point=(0, -200))
    place = tmp_path / "runs" / "deep-sea-treasure" / "pcn" / "seed-0"
    save_run(place, TREASURES[[0, 0]], TREASURES[[0, -1]], spec=spec)
    table = made_table(tmp_path)
    names, executed = cells(table, 0)
    assert names == ["DST", "executed"]
    assert executed["hypervolume: PCN"] == "199.00 ± 0.00"  # 1 x 199
    names, archive = cells(table, 1)
    assert names == ["DST", "archive"]
    assert archive["hypervolume: PCN"] == "22462.00 ± 0.00"  # 124 x 181 + 1 x 18
    assert cells(table, 2)[0] == ["DST", "paper"]


def test_the_best_of_each_row_is_bold_and_starred(tmp_path):
    treasure_runs(tmp_path, "pcn", TREASURES)
    treasure_runs(tmp_path, "pcn-paper", TREASURES[:5])
    treasure_runs(tmp_path, "mones", TREASURES[:2])
    table = made_table(tmp_path)
    first = table.to_markdown().splitlines()[4]
    assert first.startswith("| DST | executed | **22855.00 ± 0.00** | 1")
    assert first.count("**") == 2 * 3  # one for each metric
    assert first.count("**0.0") == 2  # the lowest I_eps and I_eps_mean
    latex = table.to_latex()
    assert r"DST & executed & $\mathbf{22855.00 \pm 0.00^*}$ & $1" in latex
    assert latex.count(r"\multicolumn{3}{c|}") == 3
    rows = [line for line in latex.splitlines() if line.startswith("DST")]
    assert all(line.count("&") == 1 + 3 * 3 for line in rows)


def test_the_csv_file_holds_every_number(tmp_path):
    treasure_runs(tmp_path, "mones", TREASURES, TREASURES[:1])
    header, rows = made_table(tmp_path).to_csv()
    words = ["environment", "kind", "metric", "algorithm", "mean", "deviation", "seeds", "scale"]
    assert header == words
    volumes = {row[1]: row[4:] for row in rows if row[2] == "hypervolume"}
    mean = (22855 + 199) / 2
    assert volumes["executed"] == pytest.approx([mean, 2**0.5 * (22855 - mean), 2, 1.0])
    assert volumes["paper"] == [17384.83, 6521.10, "", 1.0]


def test_a_table_that_is_scaled_down_says_so_in_every_form(tmp_path):
    treasure_runs(tmp_path, "pcn", TREASURES)
    table = made_table(tmp_path, scale=0.01)
    for text in (table.to_markdown(), table.to_latex()):
        assert "SCALED DOWN: every run had 0.01 of its steps" in text
    shown = [line for line in table.to_latex().splitlines() if not line.startswith("%")]
    assert shown[2] == r"\multicolumn{5}{|c|}{SCALED DOWN: 0.01 of the steps} \\"
    header, rows = table.to_csv()
    assert {row[1]: row[header.index("scale")] for row in rows} == {
        "executed": 0.01, "archive": 0.01, "paper": 1.0,
    }  # fmt: skip
    assert "SCALED" not in made_table(tmp_path).to_markdown()


def test_other_environments_have_no_table(tmp_path):
    save_run(tmp_path / "run", [[1, 3]])
    assert made_table(tmp_path) is None


def test_every_environment_has_published_numbers_of_three_algorithms():
    assert len(PUBLISHED) == 9
    for metrics in PUBLISHED.values():
        assert list(metrics) == ["hypervolume", "epsilon", "epsilon_mean"]
        assert np.isfinite([mean for mean, _ in metrics.values()]).all()
