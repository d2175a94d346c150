"""What `docs/take_study.py` takes of a study, and what it refuses."""

import importlib.util
import json

import pytest

from doc_pages import ROOT
from made_runs import TREASURES, save_run, toy_spec
from pcn.errors import UserError


@pytest.fixture
def take_study():
    spec = importlib.util.spec_from_file_location("take_study", ROOT / "docs" / "take_study.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    (folder / "results").mkdir(parents=True)
    page = "before\n<!-- figures of the study -->\nold\n<!-- end of the figures -->\nafter\n"
    (folder / "how-it-works.md").write_text(page)
    return folder


def study(folder, *, seeds, scale=1.0):
    spec = toy_spec(name="deep-sea-treasure", front=TREASURES, reference_point=(0, -200))
    for seed in range(seeds):
        place = folder / "runs" / "deep-sea-treasure" / "pcn" / f"seed-{seed}"
        save_run(place, TREASURES, spec=spec, seed=seed)
    (folder / "plan.json").write_text(json.dumps({"scale": scale}))
    (folder / "REPORT.md").write_text("# Report: dst\n\n`pcn reproduce dst`\n")
    return folder


def test_tables_and_figures_of_a_finished_study_stand_in_the_pages(take_study, docs, tmp_path):
    paper = docs / "results" / "paper.md"
    paper.write_text("old table\n<!-- remarks, written by hand -->\nwhy\n")
    assert take_study.main(study(tmp_path / "study", seeds=5), docs) == []
    page = (docs / "how-it-works.md").read_text()
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "old" not in page
    assert "images/paper/dst.png" in page
    assert (docs / "images" / "paper" / "dst.png").exists()
    assert "| 22855.00 ± 0.00 |" in paper.read_text()
    assert "old table" not in paper.read_text()
    assert paper.read_text().endswith("hand -->\nwhy\n")
    report = (docs / "results" / "paper-report.md").read_text()
    assert report.startswith("# The paper's experiments")
    assert report.endswith("`pcn reproduce dst`\n")


@pytest.mark.parametrize(("options", "sentence"), [
    ({"seeds": 5, "scale": 0.01}, "scaled down"),
    ({"seeds": 4}, "5 seeds"),
])  # fmt: skip
def test_what_is_no_result_is_refused(take_study, docs, tmp_path, options, sentence):
    with pytest.raises(UserError, match=sentence):
        take_study.main(study(tmp_path / "study", **options), docs)
    assert "old" in (docs / "how-it-works.md").read_text()
