"""What a run records about the machine."""

import sys
from importlib.metadata import version

import pytest

import pcn
from made_runs import save_run
from pcn.runs.circumstances import made_with


def test_versions_are_those_that_are_installed():
    found = made_with()
    assert found["pcn"] == pcn.__version__
    assert found["numpy"] == version("numpy")
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "cores" in found["processor"]


def test_a_run_is_loaded_without_its_weights(tmp_path):
    folder = save_run(tmp_path / "run", [[1, 3]])  # has none on disk
    assert pcn.load(folder, weights=False).coverage_set.executed.tolist() == [[1, 3]]
    with pytest.raises(pcn.UserError, match=r"weights\.npz does not exist"):
        pcn.load(folder)
