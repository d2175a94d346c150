"""What docs/comparing.md prints is executed as it stands there."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from made_runs import TREASURES, save_run, toy_spec
from pcn import Objective
from pcn.experiments.comparison.comparison import compare

PAGE = (Path(__file__).parents[2] / "docs" / "comparing.md").read_text()


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return found


def study(folder):
    objectives = (Objective("treasure"), Objective("time", "steps", "minimise"))
    spec = replace(
        toy_spec(name="deep-sea-treasure", front=TREASURES, reference_point=(0, -200)),
        objectives=objectives,
    )
    save_run(folder / "study" / "run", TREASURES, spec=spec)
    return folder / "study"


def test_the_python_block_prints_a_line_for_each_label(tmp_path, monkeypatch, capsys):
    study(tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(block("python"), {})
    assert capsys.readouterr().out.startswith("pcn Estimate(value=22855.0")


def test_the_file_of_another_tool_is_measured_beside_runs(tmp_path):
    (tmp_path / "other.csv").write_text(block("csv"))
    (comparison,), _ = compare([study(tmp_path), tmp_path / "other.csv"])
    # 124 x 181, and in the first seed 1 x 18 above it.
    np.testing.assert_array_equal(comparison.values("hypervolume")["gpi-ls"], [22462, 22444])
