"""Everything that an experiment's folder says about its runs is made from saved runs alone."""

import json
import shutil
import subprocess
import sys

import pytest

from made_runs import TREASURES, evaluations, save_run, toy_spec
from pcn import UserError
from pcn.experiments.outputs import write_outputs

pytestmark = pytest.mark.slow  # draws eleven pictures, three times

LABELS = ("pcn", "pcn-paper", "mones", "ra")
TIMED = ("REPORT.md", "costs.csv", "hypervolume-seconds")
"""What may differ between two executions of the same plan."""


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """Deep Sea Treasure with four labels and two seeds, and two rooms with two objectives."""
    folder = tmp_path_factory.mktemp("outputs") / "all"
    treasure = toy_spec(name="deep-sea-treasure", front=TREASURES, reference_point=(0, -200))
    runs = []
    for seed in range(2):
        for number, label in enumerate(LABELS):
            place = f"runs/deep-sea-treasure/{label}/seed-{seed}"
            algorithm, _, preset = label.partition("-")
            save_run(
                folder / place, TREASURES[: 10 - 3 * number + seed], spec=treasure, seed=seed,
                algorithm=algorithm, preset=preset or "default",
                progress=evaluations((10, 9, 100 * seed), (60, 9, 150)),
            )  # fmt: skip
            runs.append(_planned("deep-sea-treasure", place, algorithm, seed))
        room = toy_spec(
            name=f"walkroom-2 (size 20, room {seed})", front=[[-1, -3 - seed], [-4, -1]],
            reference_point=(-20, -20),
        )  # fmt: skip
        for label in ("pcn", "ra"):
            place = f"runs/walkroom-2/{label}/seed-{seed}"
            save_run(folder / place, [[-4, -1]], spec=room, seed=seed, algorithm=label)
            runs.append(_planned("walkroom-2", place, label, seed))
    runs.append(_planned("walkroom-2", "runs/walkroom-2/mones/seed-0", "mones", 0))
    plan = {"name": "all", "preset": None, "scale": 0.01, "seeds": [0, 1], "runs": runs}
    (folder / "plan.json").write_text(json.dumps(plan))
    write_outputs(folder)
    return folder


def _planned(group, place, algorithm, seed):
    request = {
        "environment": group, "arguments": {}, "algorithm": algorithm, "preset": "default",
        "hyperparameters": {"total_steps": 100}, "seed": seed,
    }  # fmt: skip
    return {"group": group, "label": algorithm, "run": place, "request": request}


def outputs(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "runs" not in path.relative_to(folder).parts[:1]
    }


def test_every_table_and_figure_is_there_with_a_csv_file_beside_each_picture(experiment):
    files = outputs(experiment)
    assert {"table1.md", "table1.csv", "table1.tex", "REPORT.md"} <= files.keys()
    assert {f"figures/{name}.png" for name in ("dst", "walkroom")} <= files.keys()
    pictures = [name for name in files if name.endswith(".png")]
    assert len(pictures) == 2 + 5 + 4  # rooms that differ have no union front
    for name in pictures:
        assert files[name].startswith(b"\x89PNG")
        assert files[name.replace(".png", ".pdf")].startswith(b"%PDF")
        assert len(files[name.replace(".png", ".csv")].splitlines()) > 1


def test_the_report_says_how_with_what_how_long_and_where_it_falls_short(experiment):
    report = (experiment / "REPORT.md").read_text()
    assert "Scaled down: every run had 0.01 of its steps" in report
    assert "pcn reproduce all --scale 0.01" in report
    assert "an abacus, pcn 1.2.3" in report
    assert "12 runs took 0.07 hours" in report  # 12 x 20 s
    assert "and 0.10 CPU hours" in report  # 12 x 30 s
    assert "DST, RA, hypervolume: 297.50, published 22437.40 (scaled down; 100 steps" in report
    assert "DST, PCN, hypervolume" not in report  # complete, and better than published
    assert "1 of 13 planned runs are not finished" in report


def test_the_box_plot_s_numbers_are_shares_of_the_room(experiment):
    lines = (experiment / "figures" / "walkroom.csv").read_text().splitlines()
    assert lines[0] == "metric,algorithm,objectives,value"
    assert f"normalised_hypervolume,pcn,2,{16 * 19 / 400}" in lines  # (-4, -1) from (-20, -20)


def test_the_same_runs_have_the_same_files_whatever_time_they_took(experiment, tmp_path):
    again = tmp_path / "again"
    shutil.copytree(experiment / "runs", again / "runs")
    shutil.copy(experiment / "plan.json", again)
    for path in again.rglob("metrics.json"):
        metrics = json.loads(path.read_text())
        path.write_text(json.dumps({**metrics, "seconds": 99.0, "cpu_seconds": 98.0}))
    write_outputs(again)
    one, other = outputs(experiment), outputs(again)
    assert one.keys() == other.keys()
    different = {name for name in one if one[name] != other[name]}
    assert different
    assert all(any(word in name for word in TIMED) for name in different)


def test_neither_jax_nor_pyplot_is_imported(experiment, tmp_path):
    shutil.copytree(experiment / "runs" / "walkroom-2", tmp_path / "runs" / "walkroom-2")
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from pcn.experiments.outputs import write_outputs\n"
        "write_outputs(Path(sys.argv[1]))\n"
        "print([name for name in ('jax', 'matplotlib.pyplot') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
    assert not (tmp_path / "table1.md").exists()  # no environment of the table
    assert "The `pcn train` lines show" in (tmp_path / "REPORT.md").read_text()


def test_a_folder_without_runs_is_told(tmp_path):
    with pytest.raises(UserError, match="there is no run in"):
        write_outputs(tmp_path)


@pytest.mark.parametrize("scale", ["a", None, [], -1.0, True, float("nan")])
def test_a_plan_with_a_scale_that_is_no_number_is_refused(scale, tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps({"scale": scale}))
    with pytest.raises(UserError, match="is damaged: scale is"):
        write_outputs(tmp_path)
