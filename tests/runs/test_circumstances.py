"""What a run records about the machine and about what it cost."""

import subprocess
import sys
import time
from importlib.metadata import version

import pytest

import pcn
from made_runs import save_run
from pcn.runs.circumstances import cpu_seconds, made_with

BURN = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


def test_cpu_seconds_are_those_of_this_process_and_of_its_children():
    before, own = cpu_seconds(), time.process_time()
    exec(BURN, {})
    alone = cpu_seconds() - before
    assert alone == pytest.approx(time.process_time() - own, abs=0.05)
    assert alone >= 0.25
    subprocess.run([sys.executable, "-S", "-c", BURN], check=True)
    assert cpu_seconds() - before >= alone + 0.25


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
