"""The notebooks' cells run in one process, and print as many lines as are saved beside them."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

FEWER = {"=30_000": "=6_000", "=20_000": "=3_000", "=200_000": "=20_000"}
"""Steps of the trainings in a notebook, and with how many the test trains."""
NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def code_cells(path):
    cells = json.loads(path.read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def saved_text(cell):
    return "".join(
        text
        for output in cell["outputs"]
        if output["output_type"] == "stream"
        for text in output["text"]
    )


def test_there_are_two_notebooks_and_each_was_executed():
    assert [path.stem for path in NOTEBOOKS] == ["own-environment", "tour"]
    for path in NOTEBOOKS:
        assert any(cell["outputs"] for cell in code_cells(path))
        assert all(
            output["output_type"] != "error"
            for cell in code_cells(path)
            for output in cell["outputs"]
        )


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_as_much_as_is_saved_in_it(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "notebook"}
    for cell in code_cells(path):
        source = "".join(cell["source"]).replace("pcn.configure_jax()", "")  # tests set it up
        for steps, fewer in FEWER.items():
            source = source.replace(steps, fewer)
        printed = StringIO()
        with redirect_stdout(printed):
            exec(source, names)
        # Not letter by letter: which of several equal ways is taken depends on the processor.
        assert printed.getvalue().count("\n") == saved_text(cell).count("\n"), source
